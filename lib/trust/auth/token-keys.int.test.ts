import { decodeProtectedHeader } from "jose";
import { beforeEach, describe, expect, test } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import { createKeyring } from "@/lib/platform/encryption/service";
import {
  createAuthServices,
  movableClock,
  TEST_APP_SECRET,
  TEST_KEY_ENCRYPTION_KEY,
} from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import {
  ACCESS_TOKEN_SECONDS,
  addTokenKey,
  removeSpentTokenKeys,
  removeTokenKey,
} from "./access-token";

let database: Database;
beforeEach(async () => {
  ({ database } = await testDatabase());
});

const MINUTE = 60;

const setUp = () => {
  const time = movableClock();
  const deps = {
    database,
    keyring: createKeyring([TEST_KEY_ENCRYPTION_KEY]),
    clock: time.clock,
  };
  return {
    here: createAuthServices({ database, time }),
    there: createAuthServices({ database, time }),
    time,
    deps,
  };
};

const kidOf = (token: string): string => decodeProtectedHeader(token).kid ?? "";

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (isDomainError(error) ? error.code : String(error)),
  );

describe("a signing key", () => {
  test("that was removed is refused within a minute on every instance, which knew its tokens, and JWKS lists it no longer", async () => {
    const { here, there, time, deps } = setUp();
    const { accessToken, refreshToken } = await here.signIn();
    const kid = kidOf(accessToken);
    for (const { auth } of [here, there])
      expect(await codeOf(auth.verifyAccessToken(accessToken))).toBe("ok");
    expect(await removeTokenKey(deps, kid)).toBe(true);
    time.advance(MINUTE);
    for (const { auth } of [here, there]) {
      expect(await codeOf(auth.verifyAccessToken(accessToken))).toBe("unauthorized");
      expect((await auth.jwks()).keys.map((key) => key.kid)).not.toContain(kid);
    }
    // The session continues, with tokens of the new key.
    const renewed = await there.auth.refresh(refreshToken ?? "");
    expect(kidOf(renewed.accessToken)).not.toBe(kid);
    expect(await codeOf(here.auth.verifyAccessToken(renewed.accessToken))).toBe("ok");
    expect(await removeTokenKey(deps, kid)).toBe(false);
  });

  test("that took over signs at once, and the tokens of the one before stay good until they expire", async () => {
    const { here, there, time, deps } = setUp();
    const before = await here.signIn();
    expect(await codeOf(there.auth.verifyAccessToken(before.accessToken))).toBe("ok");
    time.advance(1);
    const kid = await addTokenKey(deps);
    time.advance(MINUTE);
    const after = await here.signIn();
    expect(kidOf(after.accessToken)).toBe(kid);
    for (const { auth } of [here, there])
      for (const { accessToken } of [before, after])
        expect(await codeOf(auth.verifyAccessToken(accessToken))).toBe("ok");
    expect(await removeSpentTokenKeys(deps, ACCESS_TOKEN_SECONDS)).toEqual([]);
    time.advance(ACCESS_TOKEN_SECONDS);
    expect(await removeSpentTokenKeys(deps, ACCESS_TOKEN_SECONDS)).toEqual([
      kidOf(before.accessToken),
    ]);
    expect((await there.auth.jwks()).keys.map((key) => key.kid)).toEqual([kid]);
  });
});

describe("changing APP_SECRET", () => {
  const NEXT = "dev_fedcba98765432100123456789abcdef";

  /** Simulates that instances are restarted one after another. */
  const rolling = () => {
    const time = movableClock();
    return {
      older: createAuthServices({
        database,
        time,
        appSecret: TEST_APP_SECRET,
        appSecretPrevious: NEXT,
      }),
      newer: createAuthServices({
        database,
        time,
        appSecret: NEXT,
        appSecretPrevious: TEST_APP_SECRET,
      }),
      after: createAuthServices({ database, time, appSecret: NEXT }),
    };
  };

  test("keeps sessions: each instance renews what the other gave, and the new secret alone what was renewed since", async () => {
    const { older, newer, after } = rolling();
    const first = await older.signIn();
    const second = await newer.auth.refresh(first.refreshToken ?? "");
    const third = await older.auth.refresh(second.refreshToken);
    expect(await codeOf(after.auth.refresh(third.refreshToken))).toBe("unauthorized");
    const fourth = await newer.auth.refresh(third.refreshToken);
    expect(await codeOf(after.auth.refresh(fourth.refreshToken))).toBe("ok");
  });

  test("keeps the protection of refresh tokens: one that was used before ends the session under either secret", async () => {
    const { older, newer } = rolling();
    const first = await older.signIn();
    const second = await newer.auth.refresh(first.refreshToken ?? "");
    expect(await codeOf(newer.auth.refresh(first.refreshToken ?? ""))).toBe("unauthorized");
    expect(await codeOf(newer.auth.refresh(second.refreshToken))).toBe("unauthorized");
  });

  test("keeps codes that were mailed a moment before", async () => {
    const { older, newer } = rolling();
    const account = older.newAccount();
    const actor = await older.actorOf(await older.signIn(account));
    await older.mailCode(actor, "person@example.test", account);
    const profile = await newer.auth.verifyEmail(actor, older.mails.at(-1)?.code ?? "");
    expect(profile.emailVerifiedAt).not.toBeNull();
  });
});
