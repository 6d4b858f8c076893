import { beforeAll, describe, expect, test } from "vitest";
import { createInboxMailer } from "@/lib/adapters/inbox/mailer";
import type { Database } from "@/lib/platform/db/client";
import { mailContract } from "@/lib/platform/ports/mail.contract";
import { testDatabase } from "@/lib/dev/testing/database";
import { createInboxRepository } from "./repository";
import { toInbox } from "./serializer";
import { createInboxService } from "./service";

let database: Database;
let nowMs = Date.parse("2026-01-01T00:00:00Z");
const clock = { now: () => new Date(nowMs) };
beforeAll(async () => {
  ({ database } = await testDatabase());
});

mailContract("inbox mailer", async () => {
  await database.prisma.devMail.deleteMany();
  const store = createInboxRepository(database, clock);
  const received = async () => {
    const mails = await store.list({ limit: 100 });
    return mails.toReversed().map(({ to, subject, text }) => ({ to, subject, text }));
  };
  return { mailer: createInboxMailer({ store }), received };
});

describe("development inbox", () => {
  test("lists newest first, by recipient, with the code where there is one, up to the limit", async () => {
    await database.prisma.devMail.deleteMany();
    const store = createInboxRepository(database, clock);
    for (const [to, code] of [
      ["a@x.org", "111111"],
      ["b@x.org", undefined],
      ["a@x.org", undefined],
    ] as const) {
      nowMs += 1000;
      await store.add({ to, subject: "Code", text: "Text", ...(code ? { code } : {}) });
    }
    const inbox = createInboxService(store);
    const all = toInbox(await inbox.list({ limit: 20 })).data;
    expect(all.map(({ to }) => to)).toEqual(["a@x.org", "b@x.org", "a@x.org"]);
    expect(all.map(({ code }) => code)).toEqual([undefined, undefined, "111111"]);
    expect((await inbox.list({ to: "a@x.org", limit: 1 })).map(({ id }) => id)).toEqual([
      all[0]?.id,
    ]);
    expect(await inbox.list({ to: "%@x.org", limit: 20 })).toEqual([]);
  });

  test("mail of more than a week ago is gone", async () => {
    const store = createInboxRepository(database, clock);
    await store.add({ to: "old@x.org", subject: "Old", text: "Text" });
    nowMs += 8 * 24 * 3600 * 1000;
    await store.add({ to: "new@x.org", subject: "New", text: "Text" });
    expect((await store.list({ limit: 100 })).map(({ to }) => to)).toEqual(["new@x.org"]);
  });
});
