import { expect, test } from "vitest";
import { redactSecrets } from "@/lib/core/redaction";
import { ConfigError } from "./database";
import { loadConfig } from "./env";

const COLLECTOR_KEY = "k3y+of/the-collector==";
const untraced = {
  DATABASE_URL: "postgresql://user@127.0.0.1:5432/causeway",
  APP_SECRET: "a-secret-that-is-long-enough-for-it",
  KEY_ENCRYPTION_KEY: "4fd1c9e07b3a52867ce0d94b18f6a325d07b9c41ee6f8a1350b2c7d83e94f61a",
};
const traced = { ...untraced, OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

test("nothing is traced unless a collector is named", () => {
  expect(loadConfig(untraced).tracing).toBeNull();
});

test("the collector's headers are read, percent-encoded or not, and kept out of logs", () => {
  const headers = `x-api-key=${encodeURIComponent(COLLECTOR_KEY)}, x-plain=100%`;
  const { tracing } = loadConfig({ ...traced, OTEL_EXPORTER_OTLP_HEADERS: headers });
  expect(tracing).toEqual({
    endpoint: "http://collector:4318",
    headers: { "x-api-key": COLLECTOR_KEY, "x-plain": "100%" },
    serviceName: "causeway",
  });
  expect(redactSecrets(`refused with ${COLLECTOR_KEY}`)).not.toContain(COLLECTOR_KEY);
});

test("a header without a value is a problem that does not show it", () => {
  const load = (): unknown =>
    loadConfig({ ...traced, OTEL_EXPORTER_OTLP_HEADERS: "only-the-secret-key" });
  expect(load).toThrow(ConfigError);
  expect(load).toThrow(/OTEL_EXPORTER_OTLP_HEADERS.*must be name=value/);
  expect(load).not.toThrow(/only-the-secret-key/);
});
