//! OpenTelemetry, set up: what an application does once, with its own exporters.

use llmnode::{AttemptRecord, CallInfo, Category};
use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

pub struct Telemetry {
    spans: InMemorySpanExporter,
    tracers: SdkTracerProvider,
    metrics: InMemoryMetricExporter,
    meters: SdkMeterProvider,
}

impl Telemetry {
    pub fn new() -> Self {
        let (spans, metrics) = (
            InMemorySpanExporter::default(),
            InMemoryMetricExporter::default(),
        );
        let reader = PeriodicReader::builder(metrics.clone()).build();
        Telemetry {
            tracers: SdkTracerProvider::builder()
                .with_simple_exporter(spans.clone())
                .build(),
            meters: SdkMeterProvider::builder().with_reader(reader).build(),
            spans,
            metrics,
        }
    }

    /// Sends the spans of this thread to OpenTelemetry, until the guard is dropped. An application calls `init`
    /// instead of `set_default`.
    pub fn subscribe(&self) -> DefaultGuard {
        let layer = tracing_opentelemetry::layer()
            .with_tracer(self.tracers.tracer("example"))
            // These would show paths of the machine that built the program, and name threads.
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false);
        tracing_subscriber::registry().with(layer).set_default()
    }

    /// A hook for `Run::on_attempt` that measures each attempt as the conventions for generative AI have it.
    pub fn meter(&self) -> impl Fn(&CallInfo<'_>, &AttemptRecord) + Send + Sync + 'static {
        let meter = self.meters.meter("example");
        let tokens = meter
            .u64_histogram("gen_ai.client.token.usage")
            .with_unit("{token}")
            .build();
        let duration = meter
            .f64_histogram("gen_ai.client.operation.duration")
            .with_unit("s")
            .build();
        move |call, attempt| {
            let mut labels = vec![
                KeyValue::new("gen_ai.operation.name", "chat"),
                KeyValue::new("llmnode.node", call.node.to_owned()),
            ];
            labels.extend(
                attempt
                    .category
                    .map(|failed| KeyValue::new("error.type", Category::as_str(failed))),
            );
            duration.record(attempt.elapsed.as_secs_f64(), &labels);
            let usage = attempt.usage.unwrap_or_default();
            for (kind, figure) in [("input", usage.input), ("output", usage.output)] {
                // Unknown is not zero.
                let Some(figure) = figure else { continue };
                labels.push(KeyValue::new("gen_ai.token.type", kind));
                tokens.record(figure, &labels);
                labels.pop();
            }
        }
    }

    pub fn spans(&self) -> Result<Vec<SpanData>, OTelSdkError> {
        self.tracers.force_flush()?;
        self.spans.get_finished_spans()
    }

    /// How many values each metric has.
    pub fn metrics(&self) -> Result<Vec<(String, u64)>, OTelSdkError> {
        self.meters.force_flush()?;
        let exported = self.metrics.get_finished_metrics()?;
        let metrics = exported
            .iter()
            .flat_map(|one| one.scope_metrics())
            .flat_map(|scope| scope.metrics());
        Ok(metrics
            .map(|metric| (metric.name().to_owned(), values(metric.data())))
            .collect())
    }
}

fn values(data: &AggregatedMetrics) -> u64 {
    match data {
        AggregatedMetrics::U64(MetricData::Histogram(h)) => {
            h.data_points().map(|point| point.count()).sum()
        }
        AggregatedMetrics::F64(MetricData::Histogram(h)) => {
            h.data_points().map(|point| point.count()).sum()
        }
        _ => 0,
    }
}
