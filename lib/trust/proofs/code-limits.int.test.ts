import { beforeAll, expect, test } from "vitest";
import type { UserActor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Database } from "@/lib/platform/db/client";
import { testDatabase } from "@/lib/dev/testing/database";
import { testEmail } from "@/lib/dev/testing/factories";
import { CODE_LIMITS, createCodeLimits } from "./code-limits";

let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});

const limits = createCodeLimits({ limitNetworks: true });
const AT = new Date("2026-01-01T00:00:00Z");

const person = (of: Partial<UserActor> & { readonly network?: string } = {}): UserActor => ({
  type: "user",
  userId: newId("user"),
  sessionId: newId("session"),
  projectId: newId("project"),
  role: "owner",
  request: {
    requestId: "req_test",
    clientAddress: null,
    clientNetwork: of.network ?? newId("user"),
  },
  ...of,
});

const invite = (actor: UserActor, email = testEmail(), at = AT): Promise<string> =>
  database
    .transaction((tx) =>
      limits.countInvitation(tx, { id: newId("invitation"), at, actor, email }),
    )
    .then(
      () => "mailed",
      (error: unknown) => (isDomainError(error) ? error.code : String(error)),
    );

const times = async (
  count: number,
  work: (index: number) => Promise<string>,
): Promise<Set<string>> => {
  const ended = new Set<string>();
  for (let index = 0; index < count; index += 1) ended.add(await work(index));
  return ended;
};

test("a person sends a bounded number of invitations an hour, over all projects, and goes on after it", async () => {
  const actor = person();
  const max = CODE_LIMITS.invitationsOfPerson;
  expect(await times(max, () => invite({ ...actor, projectId: newId("project") }))).toEqual(
    new Set(["mailed"]),
  );
  expect(await invite({ ...actor, projectId: newId("project") })).toBe("rate_limited");
  expect(await invite(actor, testEmail(), addSeconds(AT, 3601))).toBe("mailed");
});

test("a project gets a bounded number of invitations an hour, however many people send them", async () => {
  const projectId = newId("project");
  const max = CODE_LIMITS.invitationsOfProject;
  expect(await times(max, () => invite(person({ projectId })))).toEqual(new Set(["mailed"]));
  expect(await invite(person({ projectId }))).toBe("rate_limited");
});

test("a mailbox gets five mails an hour from strangers, codes and invitations together, however its address is written", async () => {
  const email = testEmail();
  const spelled = (index: number): string =>
    email.replace("@", `+${String(index)}@`).toUpperCase();
  const code = (index: number) =>
    database
      .transaction((tx) =>
        limits.countCode(tx, {
          id: newId("otp"),
          at: AT,
          actor: person(),
          email: spelled(index),
          verified: false,
        }),
      )
      .then(
        () => "mailed",
        () => "rate_limited",
      );
  expect(await times(3, (index) => invite(person(), spelled(index)))).toEqual(
    new Set(["mailed"]),
  );
  expect(await times(2, code)).toEqual(new Set(["mailed"]));
  expect(await invite(person(), email)).toBe("rate_limited");
  expect(await code(9)).toBe("rate_limited");
  // Codes to the person who has verified the address are counted separately, so that nobody else
  // can use up that limit.
  const own = { id: newId("otp"), at: AT, actor: person(), email, verified: true };
  await expect(
    database.transaction((tx) => limits.countCode(tx, own)),
  ).resolves.toBeUndefined();
});

test("a client network sends a bounded number of invitations an hour, over all people", async () => {
  const network = newId("user");
  const max = CODE_LIMITS.networkUnverified;
  expect(await times(max, () => invite(person({ network })))).toEqual(new Set(["mailed"]));
  expect(await invite(person({ network }))).toBe("rate_limited");
});
