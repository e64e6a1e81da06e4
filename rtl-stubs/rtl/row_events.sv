// What happens to queue pairs, on its way to their rows of a table: the twin of RowEvents. One is taken a cycle, as each asks
// for a row; the row comes with the number of the place where its event waits.
module row_events #(
  parameter int unsigned DataBits = 32,
  parameter int unsigned Places   = 16,
  parameter bit DropsFirst        = 1'b0,  // the place of an event that is over can be taken in the same cycle
  localparam int unsigned TagBits = $clog2(Places)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                ready_o,      // one can be taken
  input  logic                take_i,       // if it can:
  input  logic [31:0]         qpn_i,
  input  logic [31:0]         epoch_i,      // the use of the queue pair's number that it is about
  input  logic [DataBits-1:0] data_i,
  // The table.
  input  logic                row_ready_i,  // a row can be asked for
  output logic                row_ask_o,    // the one of qpn_i
  output logic [TagBits-1:0]  row_tag_o,
  input  logic [TagBits-1:0]  row_tag_i,    // of the row that is there
  // The event whose row is there.
  output logic [31:0]         qpn_o,
  output logic [31:0]         epoch_o,
  output logic [DataBits-1:0] data_o,
  input  logic                drop_i,       // it is over
  // Whether an event of this queue pair waits, is taken or is over in this cycle.
  input  logic [31:0]         about_qpn_i,
  output logic                about_o
);
  logic [Places-1:0]   used_q, occupied, taken, dropped;
  logic [31:0]         qpns_q [Places];
  logic [31:0]         epochs_q [Places];
  logic [DataBits-1:0] data_q [Places];

  assign ready_o   = used_q != '1 && row_ready_i;
  assign row_ask_o = take_i && ready_o;

  always_comb begin
    dropped            = '0;
    dropped[row_tag_i] = drop_i;
    occupied           = DropsFirst ? used_q & ~dropped : used_q;
  end
  // The first free place.
  always_comb begin
    row_tag_o = '0;
    taken     = '0;
    for (int i = Places - 1; i >= 0; i--) begin
      if (!occupied[i]) row_tag_o = TagBits'(i);
    end
    taken[row_tag_o] = row_ask_o;
  end

  assign qpn_o   = qpns_q[row_tag_i];
  assign epoch_o = epochs_q[row_tag_i];
  assign data_o  = data_q[row_tag_i];

  always_comb begin
    about_o = row_ask_o && qpn_i == about_qpn_i;
    for (int unsigned i = 0; i < Places; i++) about_o |= used_q[i] && qpns_q[i] == about_qpn_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) used_q <= '0;
    else         used_q <= (used_q & ~dropped) | taken;
  end
  always_ff @(posedge clk_i) begin
    if (row_ask_o) begin
      qpns_q[row_tag_o]   <= qpn_i;
      epochs_q[row_tag_o] <= epoch_i;
      data_q[row_tag_o]   <= data_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      UsedPlace_A : assert (!drop_i || used_q[row_tag_i]);
    end
  end

  if (Places < 2 || Places > 64) begin : gen_check
    $error("row_events: Places must be 2 to 64");
  end
endmodule
