import { beforeAll, expect, test } from "vitest";
import type { Database } from "@/lib/platform/db/client";
import { CODE_LIMITS } from "@/lib/trust/proofs/code-limits";
import { createAuthServices, movableClock } from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import { testEmail } from "@/lib/dev/testing/factories";

let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});

const MAX = CODE_LIMITS.notices;

const setUp = async () => {
  const time = movableClock();
  const services = createAuthServices({ database, time });
  const { projectId } = await services.actorOf(await services.signIn());
  const { mailOutbox, mails } = services;
  const to = testEmail();
  const tell = (subject: string, address = to) =>
    database.transaction((tx) =>
      mailOutbox.enqueue(tx, projectId, { to: address, subject, text: `It says: ${subject}.` }),
    );
  /** Runs one turn of every waiting mail. */
  const turn = async () => {
    const rows = await database.prisma.mailOutbox.findMany({
      where: { projectId },
      orderBy: { id: "asc" },
    });
    for (const { id } of rows) await mailOutbox.deliver(`${projectId}/${id}`);
  };
  const left = () => database.prisma.mailOutbox.count({ where: { projectId } });
  return { ...time, tell, turn, left, mails, to };
};

test("of more notices than an hour allows the later ones wait and come in one mail, and none is lost", async () => {
  const { tell, turn, left, mails, to, advance } = await setUp();
  for (let count = 0; count < MAX + 9; count += 1) await tell(`Flood ${String(count)}`);
  await tell("Your key was rotated");
  await turn();
  expect([mails.length, await left()]).toEqual([MAX, 10]);
  await turn();
  expect([mails.length, await left()]).toEqual([MAX, 10]);
  advance(3601);
  await turn();
  expect(await left()).toBe(0);
  expect(mails).toHaveLength(MAX + 1);
  const merged = mails.at(-1);
  expect(merged).toMatchObject({ to, subject: "10 notices about your project" });
  for (const said of ["Flood 30", "Flood 38", "Your key was rotated"])
    expect(merged?.text).toContain(`It says: ${said}.`);
});

test("a flood of one mailbox delays no other one, and another spelling of the address is the same mailbox", async () => {
  const { tell, turn, mails, to } = await setUp();
  for (let count = 0; count < MAX; count += 1) await tell(`Flood ${String(count)}`);
  await turn();
  const other = testEmail();
  await tell("To another person", other);
  await tell("To the same person", to.replace("@", "+2@"));
  await turn();
  expect(mails.slice(MAX).map(({ subject }) => subject)).toEqual(["To another person"]);
});
