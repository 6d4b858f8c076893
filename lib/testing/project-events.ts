import type { Database } from "@/lib/db/client";

export interface WrittenEvent {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The events of an object in their order, whether they have been numbered yet or not. */
export const eventsOf = ({ prisma }: Database, objectId: string): Promise<WrittenEvent[]> =>
  prisma.$queryRaw<WrittenEvent[]>`
    SELECT type, payload FROM (
      SELECT type, payload, 0 AS part, object_sequence AS place FROM event WHERE object_id = ${objectId}
      UNION ALL
      SELECT type, payload, 1, position FROM event_outbox WHERE object_id = ${objectId}
    ) written ORDER BY part, place`;

export const eventTypesOf = async (database: Database, objectId: string): Promise<string[]> =>
  (await eventsOf(database, objectId)).map(({ type }) => type);
