import { expect, test } from "vitest";
import type { ApiKeyActor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import { hintsOfEvent } from "./hint";
import { Subscriber } from "./feed";

const OPENED = new Date("2026-11-25T12:00:00Z");

const key: ApiKeyActor = {
  type: "apiKey",
  keyId: newId("apiKey"),
  projectId: newId("project"),
  createdBy: newId("user"),
  scopes: ["operations:read"],
  policy: { otp: "required", dailyCapUsd: null, recipients: [] },
};

/** Whether a stream opened at noon continues after this event of a key. */
const goesOnAfter = async (
  name: string,
  secondsAfterOpening: number,
  objectId: string = key.keyId,
): Promise<boolean> => {
  const nothing = { cursorOf: () => ({ events: 0, audit: 0 }), leave: () => undefined };
  const subscriber = new Subscriber(key, nothing.cursorOf, nothing.leave, OPENED);
  subscriber.push(
    hintsOfEvent({
      name,
      objectId,
      private: false,
      at: addSeconds(OPENED, secondsAfterOpening),
    }),
  );
  subscriber.ready();
  return subscriber.next().then(
    () => true,
    () => false,
  );
};

test("a key's stream is cut by a change of the key, and by one that its authentication may have missed", async () => {
  expect(await goesOnAfter("api_key.updated", 60)).toBe(false);
  expect(await goesOnAfter("api_key.revoked", 0)).toBe(false);
  expect(await goesOnAfter("api_key.updated", -1)).toBe(false);
});

test("a key's stream goes on after older changes, the key's creation, and changes of other keys", async () => {
  expect(await goesOnAfter("api_key.updated", -3)).toBe(true);
  expect(await goesOnAfter("api_key.created", 0)).toBe(true);
  expect(await goesOnAfter("api_key.updated", 60, newId("apiKey"))).toBe(true);
});
