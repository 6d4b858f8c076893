import { expect, test } from "vitest";
import { INBOX_KINDS } from "@/lib/contracts/inbox";
import { groupsOf, type InboxItem, isVotable } from "./looks";

const item = (kind: InboxItem["kind"], mine: boolean): InboxItem => ({
  kind,
  id: `${kind} ${String(mine)}`,
  title: "Payout to 1 wallet",
  toDo: "Look at it.",
  mine,
  by: null,
  byName: null,
  movement: null,
  votes: null,
  since: "2026-11-30T12:00:00.000Z",
  until: null,
  path: "/inbox",
});

const EVERY = INBOX_KINDS.flatMap((kind) => [item(kind, true), item(kind, false)]);

test("every item is in one group, and only what the reader may do waits for the reader", () => {
  const { waiting, problems, others } = groupsOf(EVERY);
  expect([...waiting, ...problems, ...others].map(({ id }) => id).sort()).toEqual(
    EVERY.map(({ id }) => id).sort(),
  );
  expect(waiting.map(({ kind }) => kind)).toEqual([
    "decision",
    "operation",
    "payout",
    "schedule",
    "contact",
  ]);
  expect(problems.every(({ mine }) => mine)).toBe(true);
  expect(others.every(({ mine }) => !mine)).toBe(true);
});

test("only requests on which the reader may vote can be selected", () => {
  expect(EVERY.filter(isVotable).map(({ id }) => id)).toEqual(["decision true"]);
});
