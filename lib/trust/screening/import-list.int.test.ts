import { beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import { sqlOn } from "@/lib/platform/db/sql";
import { testDatabase } from "@/lib/dev/testing/database";
import { createListSigner, listContent } from "@/lib/dev/testing/screening-list";
import { importList } from "./import-list";
import { createLoadedLists } from "./loaded-lists";

const LISTED = "0x00000000000000000000000000000000000000AA";
const signer = createListSigner();
let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});

const bring = (text: string, by = "ada") =>
  importList({ database, keys: signer.keys, clock: systemClock }, { text, by });
const versionsOf = async (name: string) =>
  (
    await database.prisma.screeningList.findMany({
      where: { name },
      orderBy: { version: "asc" },
    })
  ).map(({ version }) => version);

describe("a signed list", () => {
  test("is stored with where it is from, who imported it, and an entry of the audit log", async () => {
    const content = listContent({
      list: "whole",
      entries: [{ address: LISTED, label: "No. 7" }],
    });
    const { isNew } = await bring(signer.file(content));
    expect(isNew).toBe(true);
    const row = await database.prisma.screeningList.findFirstOrThrow({
      where: { name: "whole" },
    });
    expect(row).toMatchObject({
      source: content.source,
      keyId: "test-key",
      importedBy: "ada",
      entries: 1,
    });
    expect(row.digest).toHaveLength(32);
    const entries = await database.prisma.screeningListEntry.findMany({
      where: { listName: "whole" },
    });
    expect(entries).toMatchObject([{ address: LISTED.toLowerCase(), label: "No. 7" }]);
    const audit = await database.prisma.auditEvent.findFirstOrThrow({
      where: { subject: "whole" },
    });
    expect(audit).toMatchObject({
      actor: "ada",
      action: "screening_list.imported",
      projectId: null,
    });
  });

  test("is refused when one byte of it was changed, or another key signed it", async () => {
    const text = signer.file(listContent({ list: "forged" }));
    const envelope = JSON.parse(text) as { payload: string };
    const changed = Buffer.from(envelope.payload, "base64")
      .toString()
      .replace('"version":1', '"version":9');
    const forged = JSON.stringify({
      ...envelope,
      payload: Buffer.from(changed).toString("base64"),
    });
    await expect(bring(forged)).rejects.toThrow(
      "The signature of the file is not one of the key test-key",
    );
    await expect(
      bring(createListSigner().file(listContent({ list: "forged" }))),
    ).rejects.toThrow("signature");
    const other = createListSigner("other-key").file(listContent({ list: "forged" }));
    await expect(bring(other)).rejects.toThrow("which SCREENING_LIST_KEYS does not name");
    expect(await versionsOf("forged")).toEqual([]);
  });

  test("is refused when it is out of date, from the future, or no list", async () => {
    const past = new Date(Date.now() - 1000).toISOString();
    await expect(
      bring(signer.file(listContent({ list: "old", validUntil: past }))),
    ).rejects.toThrow("out of date");
    const future = new Date(Date.now() + 3_600_000).toISOString();
    await expect(
      bring(signer.file(listContent({ list: "old", issuedAt: future }))),
    ).rejects.toThrow("in the future");
    await expect(
      bring(signer.file({ ...listContent(), entries: [{ address: "0x12" }] })),
    ).rejects.toThrow("address");
    await expect(bring("{")).rejects.toThrow("it is not JSON");
    expect(await versionsOf("old")).toEqual([]);
  });

  test("never takes the place of a newer version, and may be imported twice", async () => {
    const version = (number: number, address = LISTED) =>
      signer.file(listContent({ list: "rolled", version: number, entries: [{ address }] }));
    const second = version(2);
    await bring(second);
    await expect(bring(version(1))).rejects.toThrow("not higher than the stored version 2");
    await expect(
      bring(version(2, "0x00000000000000000000000000000000000000bb")),
    ).rejects.toThrow("not higher");
    expect((await bring(second)).isNew).toBe(false);
    expect(await versionsOf("rolled")).toEqual([2]);
  });

  test("is stored once when it is imported many times at once", async () => {
    const text = signer.file(listContent({ list: "raced", entries: [{ address: LISTED }] }));
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => bring(text)));
    expect(outcomes.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await versionsOf("raced")).toEqual([1]);
  });

  test("is used by every instance once its last look is two seconds old", async () => {
    let nowMs = 0;
    const lists = createLoadedLists(sqlOn(database.pool), () => nowMs);
    const versionNow = async () =>
      (await lists.current()).find(({ name }) => name === "seen")?.version;
    expect(await versionNow()).toBeUndefined();
    const version = (number: number) =>
      signer.file(
        listContent({ list: "seen", version: number, entries: [{ address: LISTED }] }),
      );
    await bring(version(1));
    nowMs = 1999;
    expect(await versionNow()).toBeUndefined();
    nowMs = 2000;
    expect(await versionNow()).toBe(1);
    await bring(version(5));
    nowMs = 4000;
    const seen = (await lists.current()).find(({ name }) => name === "seen");
    expect([seen?.version, seen?.addresses.has(LISTED.toLowerCase())]).toEqual([5, true]);
  });
});
