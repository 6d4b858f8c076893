import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { binaryUuids } from "./binary-uuids";

const { database } = await testDatabase();

const bare = (uuid: string): string => uuid.replaceAll("-", "");

test("PostgreSQL reads the UUIDs in their order, however many there are", async () => {
  for (const count of [0, 1, 2, 1000]) {
    const uuids = Array.from({ length: count }, () => randomUUID());
    for (const client of [database.pool, database.prisma]) {
      const text = "SELECT $1::uuid[]::text[] AS read";
      const given = binaryUuids(uuids.map(bare));
      const [row] =
        client === database.pool
          ? (await database.pool.query<{ read: string[] }>(text, [given])).rows
          : await database.prisma.$queryRawUnsafe<{ read: string[] }[]>(text, given);
      expect(row?.read).toEqual(uuids);
    }
  }
});

test("what is no UUID is refused", () => {
  const some = bare(randomUUID());
  const wrong = [
    some.slice(1),
    `${some}00`,
    `${some.slice(0, 31)}g`,
    randomUUID().slice(0, 32),
    "",
  ];
  for (const each of wrong)
    expect(() => binaryUuids([some, each, some]), each).toThrow("32 hexadecimal digits");
});
