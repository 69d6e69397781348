//! What runs beside a queue manager, as far as tests of what it shows need it.
#![allow(missing_docs, unreachable_pub)]

use posthaste_admin::{
    Answer, ChannelState, ChannelStatus, ComponentCounts, ComponentError, ComponentState,
    Components, LaneStatus, ListenerStatus, ServiceStatus,
};
use posthaste_command::{Object, StopChannel};

/// One client, and nothing that can be started or stopped.
pub struct OneClient;

impl Components for OneClient {
    fn command_server(&self) -> ComponentState {
        ComponentState::Stopped
    }
    fn channel_initiator(&self) -> ComponentState {
        ComponentState::Running
    }
    fn host_name(&self) -> String {
        "a.host".to_owned()
    }
    fn owner(&self) -> String {
        "owner".to_owned()
    }
    fn is_administrator(&self, user: &str) -> bool {
        user == "mqm"
    }
    fn counts(&self) -> ComponentCounts {
        ComponentCounts {
            requests: 12,
            ..ComponentCounts::default()
        }
    }
    fn lanes(&self) -> Vec<LaneStatus> {
        vec![LaneStatus {
            number: 1,
            turns: 99,
            ..LaneStatus::default()
        }]
    }
    fn channels(&self) -> Vec<ChannelStatus> {
        vec![ChannelStatus {
            id: 5,
            channel: "C".to_owned(),
            conname: "127.0.0.1".to_owned(),
            state: ChannelState::Running,
            started: 1_700_000_000_000_000,
            bytes_received: 11,
            bytes_sent: 22,
            buffers_received: 33,
            buffers_sent: 44,
            calls: 55,
            last_call: None,
            conversations: 6,
            max_conversations: 7,
            heartbeat_s: 300,
            max_message: 100,
            product: String::new(),
            application: "far".to_owned(),
            tls: None,
            user: "u".to_owned(),
        }]
    }
    fn stopped_channels(&self) -> Vec<String> {
        Vec::new()
    }
    fn start_channel(&self, _: &str) -> Result<(), ComponentError> {
        Err(ComponentError::UnknownChannel)
    }
    fn is_channel_in_use(&self, _: &str) -> bool {
        false
    }
    fn channel_deleted(&self, _: &str) {}
    fn stop_channel(&self, _: &str, _: &StopChannel) -> Result<(), ComponentError> {
        Err(ComponentError::UnknownChannel)
    }
    fn listeners(&self) -> Vec<ListenerStatus> {
        Vec::new()
    }
    fn start_listener<'a>(&'a self, _: &'a Object) -> Answer<'a> {
        Box::pin(std::future::ready(Err(ComponentError::ListenerActive)))
    }
    fn stop_listener<'a>(&'a self, _: &'a str) -> Answer<'a> {
        Box::pin(std::future::ready(Err(ComponentError::ListenerInactive)))
    }
    fn newly_exposed(&self) -> Vec<[String; 5]> {
        Vec::new()
    }
    fn refresh_tls(&self) -> Result<(), String> {
        Ok(())
    }
    fn refresh_connauth(&self) -> Result<(), String> {
        Ok(())
    }
    fn services(&self) -> Vec<ServiceStatus> {
        Vec::new()
    }
    fn start_service(&self, _: &Object) -> Result<(), ComponentError> {
        Err(ComponentError::NoStartCommand)
    }
    fn stop_service(&self, _: &Object) -> Result<(), ComponentError> {
        Err(ComponentError::ServiceInactive)
    }
}
