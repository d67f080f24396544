// Three senders, a switch, a receiver: the traces of docs/ns3-ascii.md.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    bool all = false;
    uint32_t digits = 12;
    double stop = 0.05;
    CommandLine cmd(__FILE__);
    cmd.AddValue("all", "trace every node, not only the switch", all);
    cmd.AddValue("digits", "digits of the times", digits);
    cmd.AddValue("stop", "end, seconds", stop);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
    NodeContainer nodes;
    nodes.Create(5); // 0, 1, 3: senders; 2: the switch; 4: the receiver
    Ptr<Node> sw = nodes.Get(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    link.SetChannelAttribute("Delay", StringValue("10us"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("20p"));
    // With it, packets wait and are dropped above the device queue, where the trace does not look.
    link.DisableFlowControl();
    NetDeviceContainer devices;
    for (uint32_t host : {0, 1, 3, 4})
    {
        NetDeviceContainer pair = link.Install(sw, nodes.Get(host));
        auto device = DynamicCast<PointToPointNetDevice>(pair.Get(1));
        device->GetQueue()->SetMaxSize(QueueSize("1000p")); // only the switch drops
        devices.Add(pair);
    }
    InternetStackHelper stack;
    stack.Install(nodes);
    Ipv4AddressHelper address;
    Ipv4InterfaceContainer interfaces;
    for (uint32_t i = 0; i < 4; i++)
    {
        std::ostringstream base;
        base << "10.1." << i + 1 << ".0";
        address.SetBase(base.str().c_str(), "255.255.255.0");
        NetDeviceContainer pair(devices.Get(2 * i), devices.Get(2 * i + 1));
        interfaces.Add(address.Assign(pair));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Ipv4Address receiver = interfaces.GetAddress(7);
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    sink.Install(nodes.Get(4)).Start(Seconds(1.0));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(receiver, 9));
    bulk.Install(nodes.Get(1)).Start(Seconds(1.0));
    PacketSinkHelper echo("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 7));
    echo.Install(nodes.Get(4)).Start(Seconds(1.0));
    OnOffHelper udp("ns3::UdpSocketFactory", InetSocketAddress(receiver, 7));
    udp.SetAttribute("PacketSize", UintegerValue(700));
    udp.SetAttribute("DataRate", StringValue("90Mbps"));
    udp.SetAttribute("OnTime", StringValue("ns3::ConstantRandomVariable[Constant=0.004]"));
    udp.SetAttribute("OffTime", StringValue("ns3::ConstantRandomVariable[Constant=0.004]"));
    udp.Install(NodeContainer(nodes.Get(0), nodes.Get(3))).Start(Seconds(1.0));

    AsciiTraceHelper ascii;
    Ptr<OutputStreamWrapper> stream = ascii.CreateFileStream("star.tr");
    stream->GetStream()->precision(digits);
    if (all)
    {
        link.EnableAsciiAll(stream);
    }
    else
    {
        link.EnableAscii(stream, NodeContainer(sw));
    }
    link.EnableAscii("star", NodeContainer(sw));
    link.EnablePcap("star", NodeContainer(sw));
    Simulator::Stop(Seconds(1.0 + stop));
    Simulator::Run();
    Simulator::Destroy();
}
