import { spawnSync } from "node:child_process";
import { beforeAll, expect, test, vi } from "vitest";
import { inheritedEnvironment } from "@/lib/platform/config/env";
import { listAuditLog } from "@/lib/contracts/audit";
import { listParkedJobs, resumeJob } from "@/lib/contracts/jobs";
import { newId } from "@/lib/core/ids";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import { entryFile } from "@/lib/dev/testing/entry";

const api = await testApi({ devnet: false });
const { prisma } = api.services.database;
const WAIT = { timeout: 10_000, interval: 50 };
const parkedAt = new Date("2026-01-01T00:00:00.000Z");

let owner: TestSession;
let stranger: TestSession;
let projectId: string;
beforeAll(async () => {
  [owner, stranger] = [await api.signIn(), await api.signIn()];
  const { userId } = await api.services.auth.verifyAccessToken(owner.accessToken);
  ({ projectId } = await prisma.membership.findFirstOrThrow({ where: { userId } }));
});

/** A payout of the owner's project whose job failed too often. */
const parked = async (): Promise<string> => {
  const id = newId("payout");
  await prisma.payout.create({
    data: {
      ...{
        id,
        projectId,
        kind: "wallets",
        mode: "independent",
        status: "processing",
        subStatus: "queued",
      },
      ...{ totalBase: 0, itemsTotal: 1, digest: new Uint8Array(32), createdBy: "test" },
      createdAt: parkedAt,
      updatedAt: parkedAt,
    },
  });
  const job = {
    id,
    queue: "payout",
    runAt: parkedAt,
    failures: 50,
    lastError: "its row is broken",
    parkedAt,
  };
  await prisma.job.create({ data: job });
  return id;
};
const jobOf = (id: string) => prisma.job.findUniqueOrThrow({ where: { id } });

const statusOf = async (call: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await call.catch((reason: unknown) => reason);
  return (error as { status?: unknown }).status;
};

test("an owner sees the stopped work of the project alone, and puts it back once", async () => {
  const id = await parked();
  const { data } = await owner.client.call(listParkedJobs, {});
  expect(data).toEqual([
    {
      id,
      kind: "payout",
      failures: 50,
      lastError: "its row is broken",
      parkedAt: parkedAt.toISOString(),
    },
  ]);
  expect((await stranger.client.call(listParkedJobs, {})).data).toEqual([]);
  expect(await statusOf(stranger.client.call(resumeJob, { params: { id } }))).toBe(404);
  expect((await jobOf(id)).parkedAt).toEqual(parkedAt);

  await owner.client.call(resumeJob, { params: { id } });
  expect(await jobOf(id)).toMatchObject({ parkedAt: null, failures: 0 });
  expect((await owner.client.call(listParkedJobs, {})).data).toEqual([]);
  expect(await statusOf(owner.client.call(resumeJob, { params: { id } }))).toBe(404);
  const log = await owner.client.call(listAuditLog, { query: { subject: id } });
  expect(log.data.map(({ action }) => action)).toEqual(["job.resumed"]);
});

test("other members may neither see nor resume it", async () => {
  const id = await parked();
  const asMember = async (role: string) =>
    prisma.membership.updateMany({ where: { projectId }, data: { role } });
  await asMember("operator");
  // Roles are remembered for a moment.
  await vi.waitFor(
    async () => expect(await statusOf(owner.client.call(listParkedJobs, {}))).toBe(403),
    WAIT,
  );
  expect(await statusOf(owner.client.call(resumeJob, { params: { id } }))).toBe(403);
  await asMember("owner");
  expect((await jobOf(id)).parkedAt).toEqual(parkedAt);
});

test("the command lists stopped work and puts it back", async () => {
  const id = await parked();
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [entryFile("causeway"), "jobs", ...args], {
      encoding: "utf8",
      env: { ...inheritedEnvironment(), DATABASE_URL: api.services.config.databaseUrl },
    });
  expect(run().stdout).toContain(id);
  const resumed = run("resume", id);
  expect([resumed.status, resumed.stdout]).toEqual([0, "1 of 1 jobs were put back.\n"]);
  expect((await jobOf(id)).parkedAt).toBeNull();
  expect(run("resume", id).status).toBe(1);
  expect(run("mend").stderr).toContain("jobs cannot mend.");
});
