// An atomic returns a value that its word has had since the atomic began, whatever Writes and other atomics write to it. Two
// words, two atomics in flight, any traffic. One bit of each word is observed: CmpSwaps of that bit, with and without the
// comparison, are all that can happen to it.
module atomic_alu_proof (
  input logic       clk_i,
  input logic       in_valid,
  input logic       in_word,
  input logic       in_data,
  input logic       in_compare,
  input logic       in_compares,
  input logic       read_ready,
  input logic [1:0] read_now,        // reads that sample memory in this cycle
  input logic       read_done_valid,
  input logic       read_done_index,
  input logic       write_ready,
  input logic       land,            // the oldest write of an atomic reaches memory
  input logic       written_valid,
  input logic       out_ready,
  input logic       event_ready,
  input logic       other,           // another writer writes
  input logic       other_word,
  input logic       other_data
);
  logic in_reset = 1'b1;
  always_ff @(posedge clk_i) in_reset <= 1'b0;

  rnic_messages_pkg::queued_atomic_t     in;
  rnic_messages_pkg::qp_life_t           qp;
  rnic_messages_pkg::stag_context_t      stag;
  rnic_messages_pkg::dma_read_request_t  read;
  rnic_messages_pkg::dma_read_done_t     read_done;
  rnic_messages_pkg::dma_write_request_t write;
  rnic_messages_pkg::dma_write_done_t    written;
  rnic_messages_pkg::atomic_work_t       out;
  rnic_messages_pkg::qp_event_t          event_out;
  logic        busy, in_ready, read_valid, read_done_ready, write_valid, written_ready, out_valid, event_valid;
  logic        fetch_add, cmp_swap, forwarded, held_up, refused, failed, pages_ask, pages_drop, stag_ask, stag_drop, region_ask, region_drop;
  logic        older_index, word_watch, word_index, word_follows, released, release_index;
  logic [63:0] write_data, word_address;
  logic [23:0] in_stag_index, in_region_index;
  logic [31:0] in_qp_index, pages_index, answer_qp_index;

  // For each operation in flight: its word, and whether another writer has written to it since (WordWatch).
  logic [1:0] words = '0, watched = '0, overwritten = '0, overwritten_now;

  always_comb begin
    in                        = '0;
    in.request.operation      = 32'd2;
    in.request.to             = {60'd0, in_word, 3'd0};
    in.request.data           = 64'(in_data);
    in.request.data_mask      = 64'd1;
    in.request.compare        = 64'(in_compare);
    in.request.compare_mask   = 64'(in_compares);
    qp                        = '0;
    qp.valid                  = 1'b1;
    stag                      = '0;
    stag.valid                = 1'b1;
    stag.kind                 = rnic_messages_pkg::StagRegion;
    stag.zero_based           = 1'b1;
    stag.length               = 64'd16;
    stag.access               = '1;
    read_done                 = '0;
    read_done.tag             = 32'(read_done_index);
    read_done.ok              = 1'b1;
    written                   = '0;
  end

  logic [1:0] brought;  // by the reads
  atomic_alu #(
    .Operations        (2),
    .InitiationInterval(1),
    .PipelineCycles    (1)
  ) u_alu (
    .clk_i,
    .rst_ni             (!in_reset),
    .busy_o             (busy),
    .in_valid_i         (in_valid),
    .in_ready_o         (in_ready),
    .in_i               (in),
    .in_qp_index_o      (in_qp_index),
    .in_qp_i            (qp),
    .stag_ready_i       (1'b1),
    .stag_ask_o         (stag_ask),
    .in_stag_index_o    (in_stag_index),
    .stag_valid_i       (1'b1),
    .in_stag_i          (stag),
    .stag_drop_o        (stag_drop),
    .region_ready_i     (1'b1),
    .region_ask_o       (region_ask),
    .in_region_index_o  (in_region_index),
    .region_valid_i     (1'b0),
    .region_row_i       (24'd0),
    .in_region_i        (stag),
    .region_drop_o      (region_drop),
    .pages_ready_i      (1'b1),
    .pages_ask_o        (pages_ask),
    .pages_index_o      (pages_index),
    .pages_valid_i      (1'b0),
    .pages_row_i        (32'd0),
    .pages_i            ('0),
    .pages_drop_o       (pages_drop),
    .read_ready_i       (read_ready),
    .read_valid_o       (read_valid),
    .read_o             (read),
    .read_done_valid_i  (read_done_valid),
    .read_done_ready_o  (read_done_ready),
    .read_done_i        (read_done),
    .read_done_data_i   (64'(brought[read_done_index])),
    .write_ready_i      (write_ready),
    .write_valid_o      (write_valid),
    .write_o            (write),
    .write_data_o       (write_data),
    .written_valid_i    (written_valid),
    .written_ready_o    (written_ready),
    .written_i          (written),
    .answer_qp_index_o  (answer_qp_index),
    .answer_qp_i        (qp),
    .out_ready_i        (out_ready),
    .out_valid_o        (out_valid),
    .out_o              (out),
    .event_ready_i      (event_ready),
    .event_valid_o      (event_valid),
    .event_o            (event_out),
    .older_index_o      (older_index),
    .older_overwritten_i(overwritten[older_index]),
    .word_watch_o       (word_watch),
    .word_index_o       (word_index),
    .word_address_o     (word_address),
    .word_follows_o     (word_follows),
    .release_o          (released),
    .release_index_o    (release_index),
    .fetch_add_o        (fetch_add),
    .cmp_swap_o         (cmp_swap),
    .forwarded_o        (forwarded),
    .held_up_o          (held_up),
    .refused_o          (refused),
    .failed_o           (failed)
  );

  always_comb begin
    for (int unsigned i = 0; i < 2; i++) begin
      overwritten_now[i] = overwritten[i] || (other && watched[i] && words[i] == other_word);
    end
  end
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      overwritten <= overwritten_now;
      if (released) begin
        watched[release_index]     <= 1'b0;
        overwritten[release_index] <= 1'b0;
      end
      if (word_watch) begin
        watched[word_index]     <= 1'b1;
        words[word_index]       <= word_address[3];
        overwritten[word_index] <= word_follows && overwritten_now[older_index];
      end
    end
  end

  // Memory, and the atomics' writes that have not reached it yet: the older one in place 0.
  logic [1:0] memory = '0, pending = '0, pending_word = '0, pending_data = '0, landed = '0;
  logic       writes;
  logic [1:0] left;  // after this cycle's landing
  assign writes = write_valid && write_ready;
  assign left   = land ? {1'b0, pending[1]} : pending;
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      if (other) memory[other_word] <= other_data;
      if (land) begin
        memory[pending_word[0]] <= pending_data[0];
        pending_word[0]         <= pending_word[1];
        pending_data[0]         <= pending_data[1];
      end
      pending <= left;
      if (writes) begin
        pending[left[0]]      <= 1'b1;
        pending_word[left[0]] <= write.address[3];
        pending_data[left[0]] <= write_data[0];
      end
      landed <= landed + 2'(land) - 2'(written_valid && written_ready);
    end
  end

  // Reads under way, and the data that they have got.
  logic [1:0] reading = '0, got = '0, got_data = '0, read_word = '0;
  assign brought = got_data;
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      for (int unsigned i = 0; i < 2; i++) begin
        if (reading[i] && !got[i] && read_now[i]) begin
          got[i]      <= 1'b1;
          got_data[i] <= memory[read_word[i]];
        end
      end
      if (read_done_valid) begin
        reading[read_done_index] <= 1'b0;
        got[read_done_index]     <= 1'b0;
      end
      if (read_valid && read_ready) begin
        reading[read.tag[0]]   <= 1'b1;
        read_word[read.tag[0]] <= read.address[3];
      end
    end
  end

  // The values that an operation's word has had since it began, in memory or on their way there.
  logic [1:0] value;
  logic [3:0] had = '0;
  always_comb begin
    for (int unsigned w = 0; w < 2; w++) begin
      value[w] = memory[w];
      for (int unsigned i = 0; i < 2; i++) if (pending[i] && pending_word[i] == 1'(w)) value[w] = pending_data[i];
    end
  end
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      for (int unsigned i = 0; i < 2; i++) begin
        had[2*i+32'(value[words[i]])] <= 1'b1;
        if (other && other_word == words[i]) had[2*i+32'(other_data)] <= 1'b1;
      end
      if (word_watch) begin
        had[2*32'(word_index)+:2] <= '0;
        had[2*32'(word_index)+32'(value[word_address[3]])] <= 1'b1;
        if (other && other_word == word_address[3]) had[2*32'(word_index)+32'(other_data)] <= 1'b1;
      end
    end
  end

  always_comb begin
    if (in_reset) begin
      assume (!in_valid && !read_done_valid && !written_valid && !land);
    end else begin
      assume (!land || pending[0]);
      assume (!(land && other && other_word == pending_word[0]));  // one comes first
      assume (!written_valid || landed != 0);
      assume (!read_done_valid || got[read_done_index]);
      HasHadIt_A : assert (!out_valid || had[2*32'(release_index)+32'(out.response.original[0])]);
    end
  end
endmodule
