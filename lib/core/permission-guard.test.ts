import { describe, expect, test, vi } from "vitest";
import type { Actor, ApiKeyActor, Role, UserActor } from "./actor";
import { permissionGuard } from "./permissions";

const person = (role: Role): UserActor => ({
  ...{ type: "user", userId: "usr_1", sessionId: "ses_1", projectId: "prj_1" },
  role,
});
const KEY: ApiKeyActor = {
  ...{ type: "apiKey", keyId: "key_1", projectId: "prj_1", createdBy: "usr_1", scopes: [] },
  policy: { otp: "required", dailyCapUsd: null, recipients: [] },
};

/**
 * A service with a function that needs a permission, one that needs none, and one that no caller
 * uses.
 */
const guarded = () => {
  const pay = vi.fn((_actor: Actor, amount: string) => Promise.resolve(`paid ${amount}`));
  const show = vi.fn((actor: Actor, id: string) => Promise.resolve(`${actor.projectId} ${id}`));
  const service = { pay, show, run: (jobs: number) => jobs };
  return { pay, show, guard: permissionGuard(service, { pay: "money:move", show: null }) };
};

describe("a function that needs a permission", () => {
  test("refuses a viewer, and is not called", async () => {
    const { pay, guard } = guarded();
    // A refusal that is thrown synchronously would not reach a caller who handles only the promise.
    const refused = guard.pay(person("viewer"), "5");
    await expect(refused).rejects.toMatchObject({ code: "forbidden" });
    await expect(refused).rejects.toThrow("viewer, which may not move money");
    expect(pay).not.toHaveBeenCalled();
  });

  test.each(["owner", "admin", "operator"] as const)(
    "is called once for an %s, with everything given",
    async (role) => {
      const { pay, guard } = guarded();
      expect(await guard.pay(person(role), "5")).toBe("paid 5");
      expect(pay.mock.calls).toEqual([[person(role), "5"]]);
    },
  );

  test("is called for an API key, whose scopes decide elsewhere", async () => {
    const { guard } = guarded();
    expect(await guard.pay(KEY, "5")).toBe("paid 5");
  });

  test("keeps its service as `this`", async () => {
    const till = {
      name: "till",
      async pay(this: { readonly name: string }, actor: Actor): Promise<string> {
        return Promise.resolve(`${this.name} of ${actor.projectId}`);
      },
    };
    const { pay } = permissionGuard(till, { pay: "money:move" });
    expect(await pay.call(till, person("owner"))).toBe("till of prj_1");
  });
});

test("a function that needs no permission passes for every role", async () => {
  const { show, guard } = guarded();
  for (const role of ["owner", "admin", "operator", "viewer"] as const)
    expect(await guard.show(person(role), "op_1")).toBe("prj_1 op_1");
  expect(show).toHaveBeenCalledTimes(4);
});

test("a function that takes no caller stays as it is", () => {
  expect(guarded().guard.run(3)).toBe(3);
});
