// Makes a Terminate of an error, as somebody else would write it: valid and ready on each side, a pin for each field, one message at a
// time, some cycles for each, and an asynchronous reset that is active when high. It asks its user for the queue pair's state beside the error.
module term_maker (
  input  logic         clock,
  input  logic         arst,
  input  logic         err_valid,
  output logic         err_ready,
  input  logic [2:0]   err_kind,
  input  logic [31:0]  err_qpn,
  input  logic [3:0]   err_cause_layer,
  input  logic [3:0]   err_cause_etype,
  input  logic [7:0]   err_code,
  input  logic [15:0]  err_failed_length,
  input  logic [4:0]   err_failed_ddp_bytes,
  input  logic [4:0]   err_failed_request_bytes,
  input  logic [367:0] err_failed_octets,
  input  logic         err_malformed,
  output logic [9:0]   qp,
  input  logic         qp_alive,
  input  logic [31:0]  qp_use,
  input  logic [32:0]  qp_told,
  output logic         tells,
  output logic [32:0]  qp_tell,
  output logic         term_valid,
  input  logic         term_ready,
  output logic [31:0]  term_qpn,
  output logic [5:0]   term_bytes,
  output logic [31:0]  term_epoch,
  output logic [415:0] term_octets,
  output logic         say_valid,
  input  logic         say_ready,
  output logic [2:0]   say_kind,
  output logic [31:0]  say_qpn,
  output logic [3:0]   say_cause_layer,
  output logic [3:0]   say_cause_etype,
  output logic [7:0]   say_cause_code,
  output logic [15:0]  say_failed_length,
  output logic [4:0]   say_failed_ddp_bytes,
  output logic [4:0]   say_failed_request_bytes,
  output logic [367:0] say_failed_octets,
  output logic         say_malformed
);
  parameter FIRST_ONLY = 1;  // 0: the bug, which reports each error of a stream

  wire takes = err_valid && err_ready;
  logic [2:0] thinks;
  assign err_ready = !term_valid && !say_valid && thinks == 0;
  assign qp        = err_qpn[9:0];
  assign qp_tell   = {1'b1, qp_use};
  assign tells     = takes && qp_alive;
  wire   first     = tells && (qp_told != qp_tell || FIRST_ONLY == 0);

  // RFC 5040, figure 10: errors of DDP and of RDMAP's protection return the DDP header; protection and operation errors of RDMAP too,
  // and protection errors the header of a Read Request.
  wire       protection = err_cause_layer == 4'd0 && err_cause_etype == 4'd1;
  wire       has_ddp    = err_cause_layer == 4'd1 || (err_cause_layer == 4'd0 && err_cause_etype != 4'd0);
  wire [4:0] ddp        = has_ddp ? err_failed_ddp_bytes : 5'd0;
  wire [4:0] request    = has_ddp && protection ? err_failed_request_bytes : 5'd0;
  wire       m          = ddp != 0 && err_failed_length != 0;

  always_ff @(posedge clock or posedge arst) begin
    if (arst) begin
      term_valid <= 1'b0;
      say_valid  <= 1'b0;
      thinks     <= 3'd0;
    end else begin
      if (term_ready) term_valid <= 1'b0;
      if (say_ready) say_valid <= 1'b0;
      if (thinks != 0) thinks <= thinks - 3'd1;
      if (first) thinks <= 3'd6;
      if (thinks == 3'd1) begin
        term_valid <= 1'b1;
        say_valid  <= 1'b1;
      end
    end
  end
  always_ff @(posedge clock) begin
    if (takes) begin
      term_qpn                 <= err_qpn;
      term_epoch               <= qp_use;
      term_bytes               <= ddp == 0 ? 6'd4 : 6'd6 + {1'b0, ddp} + {1'b0, request};
      term_octets[7:0]         <= {err_cause_layer, err_cause_etype};
      term_octets[15:8]        <= err_code;
      term_octets[23:16]       <= {m, ddp != 0, ddp != 0 && request != 0, 5'd0};
      term_octets[31:24]       <= 8'd0;
      term_octets[47:32]       <= {err_failed_length[7:0], err_failed_length[15:8]};
      term_octets[415:48]      <= err_failed_octets;
      say_kind                 <= err_kind;
      say_qpn                  <= err_qpn;
      say_cause_layer          <= err_cause_layer;
      say_cause_etype          <= err_cause_etype;
      say_cause_code           <= err_code;
      say_failed_length        <= has_ddp ? err_failed_length : 16'd0;
      say_failed_ddp_bytes     <= ddp;
      say_failed_request_bytes <= request;
      say_failed_octets        <= has_ddp ? err_failed_octets : 368'd0;
      say_malformed            <= err_malformed;
    end
  end
endmodule
