// The state of a queue pair in this use of its number; what is left of an earlier one does not count: RxRow::current. No
// registers.
module rx_current (
  input  rnic_messages_pkg::rx_row_t row_i,
  output rnic_messages_pkg::qp_rx_t  state_o
);
  always_comb begin
    state_o = row_i.state;
    if (row_i.state.epoch != row_i.qp.epoch) begin
      state_o              = '0;
      state_o.epoch        = row_i.qp.epoch;
      state_o.msn_send     = row_i.qp.first_msn;
      state_o.msn_request  = row_i.qp.first_msn;
      state_o.msn_response = row_i.qp.first_msn;
    end
  end
endmodule
