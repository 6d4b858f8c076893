import { beforeAll, describe, expect, test, vi } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import { createAuthServices, movableClock } from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";

let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "ok",
    (error: unknown) =>
      isDomainError(error) ? { code: error.code, message: error.message } : error,
  );

describe("projects", () => {
  test("the default project is the one that was joined first, and a named project must be one of the person's", async () => {
    const { projects, signIn } = createAuthServices({ database });
    const { userId } = await signIn();
    const [first] = await projects.list(userId);
    const { projectId: second } = await database.transaction((tx) =>
      projects.create(tx, { name: "B", ownerId: userId }),
    );
    expect(await projects.resolve(userId, null)).toEqual({
      projectId: first?.projectId,
      role: "owner",
    });
    await vi.waitFor(
      async () =>
        expect(await projects.resolve(userId, second)).toEqual({
          projectId: second,
          role: "owner",
        }),
      20_000,
    );
  });

  test("a project of another person and one that does not exist get the same refusal", async () => {
    const { projects, signIn } = createAuthServices({ database });
    const [ada, eve] = [await signIn(), await signIn()];
    const { projectId } = await projects.resolve(ada.userId, null);
    const foreign = await refusal(projects.resolve(eve.userId, projectId));
    expect(foreign).toMatchObject({ code: "not_found" });
    expect(await refusal(projects.resolve(eve.userId, "prj_nothing"))).toEqual(foreign);
    expect(await refusal(projects.resolve("usr_nobody", null))).toEqual(foreign);
  });

  test("who is no longer a member is refused on every instance within a second, and at once on the same", async () => {
    const time = movableClock();
    const { projects, signIn } = createAuthServices({ database, time });
    const there = createAuthServices({ database, time });
    const { userId } = await signIn();
    const { projectId } = await projects.resolve(userId, null);
    await there.projects.resolve(userId, projectId);
    await database.prisma.membership.deleteMany({ where: { userId, projectId } });
    projects.forget(userId);
    expect(await refusal(projects.resolve(userId, projectId))).toMatchObject({
      code: "not_found",
    });
    time.advance(1);
    expect(await refusal(there.projects.resolve(userId, projectId))).toMatchObject({
      code: "not_found",
    });
  });
});
