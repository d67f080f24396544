//! Switch descriptions drafted from SONiC's configuration.

use crate::room::Room;

/// Four ports of two speeds; lossy queues share a pool, lossless ones have their own.
pub(crate) const CONFIG: &str = r#"{
  "DEVICE_METADATA": {"localhost": {"hostname": "leaf3", "type": "ToRRouter"}},
  "PORT": {
    "Ethernet0": {"alias": "etp1", "speed": "25000", "admin_status": "up"},
    "Ethernet4": {"alias": "etp2", "speed": "25000"},
    "Ethernet8": {"speed": "25000", "admin_status": "down"},
    "Ethernet12": {"alias": "etp4", "speed": 100000}
  },
  "BUFFER_POOL": {
    "egress_lossy_pool": {"mode": "dynamic", "size": "8000000", "type": "egress"},
    "egress_lossless_pool": {"mode": "static", "size": "16000000", "type": "egress"},
    "ingress_lossless_pool": {"mode": "dynamic", "size": "12000000", "type": "ingress", "xoff": "2000000"}
  },
  "BUFFER_PROFILE": {
    "lossy": {"dynamic_th": "3", "pool": "[BUFFER_POOL|egress_lossy_pool]", "size": "1518"},
    "scavenger": {"dynamic_th": "-2", "pool": "egress_lossy_pool", "size": "0"},
    "lossless": {"static_th": "16000000", "pool": "egress_lossless_pool", "size": "0"}
  },
  "BUFFER_QUEUE": {
    "Ethernet0,Ethernet4,Ethernet8,Ethernet12|0-1": {"profile": "[BUFFER_PROFILE|lossy]"},
    "Ethernet0|2": {"profile": "scavenger"},
    "Ethernet4|2": {"profile": "scavenger"},
    "Ethernet8|2": {"profile": "lossy"},
    "Ethernet0,Ethernet4,Ethernet8,Ethernet12|3-4": {"profile": "lossless"},
    "Ethernet99|0-1": {"profile": "lossy"}
  },
  "BUFFER_PG": {"Ethernet0|3-4": {"profile": "NULL"}},
  "DSCP_TO_TC_MAP": {"AZURE": {"0": "0", "8": "2", "46": "1", "3": "3", "4": "4", "48": "7"}},
  "TC_TO_QUEUE_MAP": {"AZURE": {"0": "0", "1": "1", "2": "2", "3": "3", "4": "4", "7": "7"}},
  "WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_all"}},
  "VLAN": {}
}"#;

#[test]
fn sonics_configuration_becomes_a_description_that_can_be_used() {
    let room = Room::new();
    room.write("leaf3.json", CONFIG);
    let said = room.dropcast("switch leaf3.json --base-rtt-ns 32000");
    assert_eq!(said.code, Some(0), "{said}");
    insta::assert_snapshot!(format!("{said}"));
    let saved = room.dropcast("switch leaf3.json --base-rtt-ns 32000 -o leaf3.toml");
    assert_eq!((saved.code, saved.stdout.as_str()), (Some(0), ""), "{saved}");
    assert_eq!(String::from_utf8(room.read("leaf3.toml")).expect("text"), said.stdout);
    let few = "time_ns,port,queue,size_bytes\n0,0,0,1500\n10,3,4,9000\n20,2,2,64\n";
    let burst = "30,1,0,9000\n".repeat(900);
    room.write("events.csv", format!("{few}{burst}"));
    room.good("collect --events events.csv --switch leaf3.toml -o trace.parquet");
    let report = room.good("report --data trace.parquet");
    assert!(report.contains("at Ethernet4"), "SONiC's names of ports: {report}");
    assert!(report.contains("> dynamic_th [3,3,-2,6,6] "), "SONiC's words for alpha: {report}");
}

#[test]
fn what_is_no_configuration_is_refused_in_clear_words() {
    let room = Room::new();
    let mut transcript = String::new();
    let mut check = |from: &str, to: &str| {
        let config = CONFIG.replacen(from, to, 1);
        assert_ne!(config, CONFIG, "{from}");
        room.write("x.json", config);
        let said = room.dropcast("switch x.json --base-rtt-ns 32000");
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
        transcript.push_str(&format!("{said}\n"));
    };
    check("{", "ports = 4");
    check(CONFIG, "[1]");
    check("\"PORT\"", "\"PORTS\"");
    check("\"BUFFER_QUEUE\"", "\"QUEUES\"");
    check("\"speed\": \"25000\", ", "");
    check("\"25000\"", "\"fast\"");
    check("\"25000\"", "\"0\"");
    check("\"dynamic_th\": \"3\"", "\"dynamic_th\": \"3.5\"");
    check("\"dynamic_th\": \"3\"", "\"dynamic_th\": \"77\"");
    check("\"dynamic_th\": \"3\", ", "");
    check("\"size\": \"1518\"", "\"size\": \"-1\"");
    check("\"size\": \"8000000\", ", "");
    check("\"size\": \"8000000\"", "\"size\": \"8000000000\"");
    check("\"lossy\": {", "\"other\": {");
    check("|0-1\"", "|1-0\"");
    check("|0-1\"", "|x\"");
    check("{\"profile\": \"scavenger\"}", "{}");
    check("{\"profile\": \"scavenger\"}", "7");
    check("\"type\": \"egress\"", "\"type\": \"ingress\"");
    insta::assert_snapshot!(transcript);
}

/// Keys of a chassis with virtual output queues name host and chip before the port.
#[test]
fn virtual_output_queues_of_the_card_are_its_ports() {
    let room = Room::new();
    let (before, queues) = CONFIG.split_once("\"BUFFER_QUEUE\"").expect("the table");
    let of = |card: &str| {
        let (queues, after) = queues.split_once("\"BUFFER_PG\"").expect("the next table");
        let queues = queues.replace("\"Ethernet", &format!("\"{card}|Ethernet"));
        format!("{before}\"BUFFER_QUEUE\"{queues}\"BUFFER_PG\"{after}")
    };
    room.write("leaf3.json", CONFIG);
    let plain = room.dropcast("switch leaf3.json --base-rtt-ns 32000");
    room.write("leaf3.json", of("leaf3|Asic0"));
    let voq = room.dropcast("switch leaf3.json --base-rtt-ns 32000");
    assert_eq!((voq.stdout, voq.stderr), (plain.stdout, plain.stderr));
    let chip = "\"asic_name\": \"asic1\", \"hostname\"";
    for other in [of("leaf4|Asic0"), of("leaf3|Asic0").replace("\"hostname\"", chip)] {
        room.write("leaf3.json", other);
        let said = room.dropcast("switch leaf3.json --base-rtt-ns 32000");
        assert!(said.stderr.contains("no BUFFER_QUEUE table for its ports"), "{said}");
    }
}
