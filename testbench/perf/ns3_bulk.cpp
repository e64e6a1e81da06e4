// The yardstick for simulation speed: one bulk TCP flow over a 100 Gb/s cable in ns-3, in data packets per second of
// processor time.
#include <cstdint>
#include <cstdio>
#include <ctime>

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

int main() {
  using namespace ns3;
  constexpr std::uint32_t kMss = 1448, kSocketBuffer = 65536;
  constexpr std::uint64_t kBytes = 256u << 20;
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(kSocketBuffer));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(kSocketBuffer));

  NodeContainer nodes;
  nodes.Create(2);
  PointToPointHelper cable;
  cable.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
  cable.SetChannelAttribute("Delay", StringValue("500ns"));
  const NetDeviceContainer devices = cable.Install(nodes);
  InternetStackHelper().Install(nodes);
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
  const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

  PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
  const ApplicationContainer receiver = sink.Install(nodes.Get(1));
  BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 5000));
  bulk.SetAttribute("MaxBytes", UintegerValue(kBytes));
  bulk.SetAttribute("SendSize", UintegerValue(kSocketBuffer));
  bulk.Install(nodes.Get(0)).Start(Seconds(0.001));

  const std::clock_t start = std::clock();
  Simulator::Stop(Seconds(10));
  Simulator::Run();
  const double spent = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const std::uint64_t received = DynamicCast<PacketSink>(receiver.Get(0))->GetTotalRx();
  Simulator::Destroy();
  std::printf("ns-3: %.0f data packets per second of processor time\n", static_cast<double>(received / kMss) / spent);
  return received == kBytes ? 0 : 1;
}
