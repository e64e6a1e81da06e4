// What the segment that comes in at one input needs of the STag table: the twin of SegmentStags. Rows are asked for when its
// DDP header is here, before it is certain that they will be needed, and stay until it is judged. Those that were asked for
// in vain are dropped when they come.
module segment_stags (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  output logic                              busy_o,           // asks for a row in the next cycle, without anything new
  // The segment.
  input  logic                              header_i,         // its header is here, and it is not judged
  input  logic                              ends_i,           // it is the end of a stream
  input  rnic_ddp_pkg::ddp_segment_t        segment_i,
  input  logic                              done_i,           // it is judged at this edge
  // The receive request that a Send whose header comes in this cycle would get now, if there is one.
  output logic                              peek_o,
  input  logic                              peek_there_i,
  input  rnic_messages_pkg::fetched_rqe_t   peek_i,
  // When it could be judged but for rows: where its payload goes.
  input  logic                              need_i,
  input  rnic_ddp_pkg::stag_list_t          list_i,
  output logic                              there_o,          // all rows that it needs are here
  // The STag that it names, the region of a window, and the entries of the scatter list, which are kept until they are
  // released.
  input  logic                              stag_ready_i,     // a row can be asked for
  output logic                              stag_ask_o,
  output logic [23:0]                       stag_index_o,
  input  logic                              stag_valid_i,     // a row is here
  input  rnic_messages_pkg::stag_context_t  stag_i,
  output logic                              stag_drop_o,
  input  logic                              region_ready_i,
  output logic                              region_ask_o,
  output logic [23:0]                       region_index_o,
  input  logic                              region_valid_i,
  input  logic [23:0]                       region_row_i,     // its index
  output logic                              region_drop_o,
  input  logic                              scatter_ready_i,
  output logic                              scatter_ask_o,
  output logic [23:0]                       scatter_index_o,
  input  logic                              scatter_valid_i,
  output logic                              scatter_keep_o,
  output logic                              scatter_drop_o,
  output logic                              scatter_release_o
);
  rnic_ddp_pkg::message_kind_t kind;
  message_kind u_kind (
    .opcode_i  (segment_i.opcode),
    .extended_i(1'b0),
    .kind_o    (kind)
  );

  logic begun_q, is_segment, names, sends, guesses;
  assign is_segment = header_i && !ends_i && segment_i.whole;
  assign names      = is_segment && (segment_i.is_tagged ? segment_i.payload != '0 : kind.invalidates);
  assign sends      = is_segment && !segment_i.is_tagged && kind.send;
  assign peek_o     = sends && !begun_q;
  assign guesses    = peek_o && peek_there_i && peek_i.ok && peek_i.wqe.num_sge <= 8'(rnic_messages_pkg::MaxSge);

  logic named_there, window;
  assign window         = stag_i.valid && stag_i.key == segment_i.stag[7:0] && stag_i.kind != rnic_messages_pkg::StagRegion;
  assign stag_index_o   = segment_i.stag[31:8];
  assign region_index_o = stag_i.region[31:8];
  named_stag u_named (
    .clk_i,
    .rst_ni,
    .wanted_i      (names),
    .there_o       (named_there),
    .used_i        (1'b0),
    .forget_i      (done_i),
    .window_i      (window),
    .region_index_i(region_index_o),
    .entry_ready_i (stag_ready_i),
    .entry_ask_o   (stag_ask_o),
    .entry_valid_i (stag_valid_i),
    .entry_drop_o  (stag_drop_o),
    .region_ready_i,
    .region_ask_o,
    .region_valid_i,
    .region_row_i,
    .region_drop_o
  );

  // The scatter list. If the request is another one when the segment is judged, other rows are asked for.
  rnic_ddp_pkg::extent_t guess;
  scatter_extent u_guess (
    .wqe_i   (peek_i.wqe),
    .offset_i(segment_i.mo),       // where the message goes on, if the segment is right
    .bytes_i (segment_i.payload),
    .extent_o(guess)
  );

  rnic_ddp_pkg::stag_list_t ahead, list, list_q;
  logic [2:0] asked, asked_q;   // rows of the list
  logic [2:0] here, kept, kept_q;
  logic [7:0] vain_d, vain_q;   // rows that were asked for in vain and have not come
  logic       changes;
  assign scatter_drop_o    = scatter_valid_i && vain_q != '0;
  assign scatter_keep_o    = scatter_valid_i && vain_q == '0;
  assign here              = kept_q + 3'(scatter_keep_o);
  assign ahead             = guesses ? guess.stags : list_q;
  assign changes           = need_i && list_i != ahead;
  assign list              = changes ? list_i : ahead;
  assign asked             = changes ? '0 : asked_q;
  assign kept              = changes ? '0 : here;
  assign there_o           = named_there && kept == list.size;
  assign scatter_release_o = (changes || done_i) && here != '0;
  assign scatter_ask_o     = asked != list.size && scatter_ready_i && !done_i;
  assign scatter_index_o   = list.index[24*32'(asked)+:24];
  assign vain_d            = vain_q - 8'(scatter_drop_o) + (changes || done_i ? 8'(asked_q) - 8'(here) : '0);
  assign busy_o            = asked_q != list_q.size;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q <= 1'b0;
      list_q  <= '0;
      asked_q <= '0;
      kept_q  <= '0;
      vain_q  <= '0;
    end else begin
      begun_q <= header_i && !done_i;
      list_q  <= done_i ? '0 : list;
      asked_q <= done_i ? '0 : asked + 3'(scatter_ask_o);
      kept_q  <= done_i ? '0 : kept;
      vain_q  <= vain_d;
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      KeptAreAsked_A   : assert (here <= asked_q);
      OtherRequest_C   : cover (changes && asked_q != '0);
      NotGuessed_C     : cover (changes && asked_q == '0);
      InVain_C         : cover (scatter_drop_o);
      SeveralOfOne_C   : cover (need_i && there_o && here > 3'd1);
    end
  end
endmodule
