import { expect } from "vitest";
import { EVENT_GROUPS, EVENT_TYPES } from "@/lib/contracts/events";
import { WEBHOOK_PAYLOADS } from "@/lib/contracts/webhook-payloads";
import { newId } from "@/lib/core/ids";
import type { Database } from "@/lib/platform/db/client";

export interface WrittenEvent {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The events of an object in order, whether or not they are numbered. */
export const eventsOf = ({ prisma }: Database, objectId: string): Promise<WrittenEvent[]> =>
  prisma.$queryRaw<WrittenEvent[]>`
    SELECT type, payload FROM (
      SELECT type, payload, 0 AS part, object_sequence AS place FROM event WHERE object_id = ${objectId}
      UNION ALL
      SELECT type, payload, 1, position FROM event_outbox WHERE object_id = ${objectId}
    ) written ORDER BY part, place`;

export const eventTypesOf = async (database: Database, objectId: string): Promise<string[]> =>
  (await eventsOf(database, objectId)).map(({ type }) => type);

/**
 * Checks that every type of these groups occurs among the events and no other type does, and that
 * each event has exactly the data of its schema.
 */
export const expectTypes = (
  written: readonly WrittenEvent[],
  groups: readonly (keyof typeof EVENT_GROUPS)[],
): void => {
  const expected: readonly string[] = groups.flatMap((group) => [...EVENT_GROUPS[group]]);
  expect([...new Set(written.map(({ type }) => type))].sort()).toEqual([...expected].sort());
  for (const { type, payload: data } of written) {
    const body = { id: newId("event"), type, sequence: 1, data };
    const schema = EVENT_TYPES.filter((known) => known === type).map((known) =>
      WEBHOOK_PAYLOADS.get(known),
    )[0];
    // Parsing drops unknown fields, so a field that the schema lacks makes this comparison fail.
    expect(schema?.parse(body), type).toEqual(body);
  }
};
