import { expect, test } from "vitest";
import { splitConnections } from "./connections";

test("the shares of any size add up to it, and each part has a connection", () => {
  for (let max = 6; max <= 200; max += 1) {
    const { listener, heartbeat, readiness, webhooks, ledger, shared } = splitConnections(max);
    expect(listener + heartbeat + readiness + webhooks + ledger + shared).toBe(max);
    expect(Math.min(listener, heartbeat, readiness, ledger, shared)).toBeGreaterThan(0);
    expect(webhooks).toBe(max < 10 ? 0 : 2);
  }
  expect(splitConnections(20)).toEqual({
    listener: 1,
    heartbeat: 1,
    readiness: 1,
    webhooks: 2,
    ledger: 5,
    shared: 10,
  });
});
