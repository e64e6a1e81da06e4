// What our adapters give somebody's module is AXI4-Stream. A ULPDU may have no octets.
bind axis_crc_check axis_checker #(.DataBytes(DATA_BITS / 8), .UserBits(USER_BITS)) u_given (
  .clk_i(aclk), .rst_ni(aresetn), .tvalid_i(s_axis_tvalid), .tready_i(s_axis_tready), .tdata_i(s_axis_tdata), .tkeep_i(s_axis_tkeep),
  .tlast_i(s_axis_tlast), .tuser_i(s_axis_tuser)
);
bind fcs_append axis_checker #(.DataBytes(32)) u_given (
  .clk_i(ck), .rst_ni(!rst), .tvalid_i(i_vld), .tready_i(i_rdy), .tdata_i(i_dat), .tkeep_i(i_ben), .tlast_i(i_eop), .tuser_i(1'b0)
);
bind axis_markers axis_checker #(.DataBytes(4), .UserBits(10)) u_given (
  .clk_i(aclk), .rst_ni(aresetn), .tvalid_i(s_tvalid), .tready_i(s_tready), .tdata_i(s_tdata), .tkeep_i(s_tkeep), .tlast_i(s_tlast),
  .tuser_i(s_tuser)
);
bind axis_framer axis_checker #(.DataBytes(4), .UserBits(16), .Sparse(1'b1)) u_given (
  .clk_i(clk), .rst_ni(reset_n), .tvalid_i(u_tvalid), .tready_i(u_tready), .tdata_i(u_tdata), .tkeep_i(u_tkeep), .tlast_i(u_tlast),
  .tuser_i(u_length)
);
