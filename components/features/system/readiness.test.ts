import { expect, test } from "vitest";
import { healthView } from "./readiness";

const FINE = {
  online: true,
  live: "live",
  readiness: "ready",
  signingOff: false,
  down: [],
} as const;

test.each([
  ["All systems operational", {}],
  ["All systems operational", { live: "starting" }],
  ["No live updates; trying again", { live: "down" }],
  ["Checking …", { readiness: "unknown", live: "starting" }],
  ["The service does not answer", { readiness: "silent" }],
  ["The service does not answer", { readiness: "silent", live: "down", signingOff: true }],
  ["A part of the service does not work", { readiness: "unavailable" }],
  ["Not working: Local 1, mail", { readiness: "unavailable", down: ["Local 1", "mail"] }],
  ["Payments are paused", { signingOff: true, down: ["mail"] }],
  ["This device is offline", { online: false, readiness: "silent", live: "down" }],
] as const)("the footer says %o", (text, facts) => {
  expect(healthView({ ...FINE, ...facts }).text).toBe(text);
});
