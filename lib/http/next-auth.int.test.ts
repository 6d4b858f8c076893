import type { NextApiRequest, NextApiResponse } from "next";
import NextAuth, { type Session } from "next-auth";
import { createSiweMessage } from "viem/siwe";
import { privateKeyToAccount, generatePrivateKey } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { createServices, getServices, setServices, type Services } from "@/lib/composition";
import { addSeconds, systemClock, type Clock } from "@/lib/core/clock";
import { testServices } from "@/lib/dev/testing/services";
import { authOptions } from "./next-auth";

let aheadSeconds = 0;
const clock: Clock = { now: () => addSeconds(systemClock.now(), aheadSeconds) };
let services: Services;
/** Refused because the address is not on the list. */
const stranger = privateKeyToAccount(generatePrivateKey());
const people = Array.from({ length: 20 }, () => privateKeyToAccount(generatePrivateKey()));
beforeAll(async () => {
  const variables = {
    SIGN_UP: "allow-list",
    SIGN_UP_ALLOW: people.map(({ address }) => address).join(),
  };
  services = await testServices({ devnet: false, overrides: { clock }, variables });
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  /** `Set-Cookie` headers as sent. */
  readonly cookies: readonly string[];
}

/**
 * A browser that uses next-auth's protocol without Next, because both of next-auth's handlers share
 * the same core.
 */
const newBrowser = () => {
  const jar = new Map<string, string>();
  const request = async (path: string, body?: Record<string, string>): Promise<Answer> => {
    const answer = { status: 200, body: {}, cookies: [] as string[] };
    const response = {
      status: (status: number) => ((answer.status = status), response),
      setHeader: (name: string, value: string | string[]) => {
        if (name.toLowerCase() === "set-cookie") answer.cookies = [value].flat();
        return response;
      },
      getHeader: (name: string) =>
        name.toLowerCase() === "set-cookie" ? answer.cookies : undefined,
      json: (sent: Record<string, unknown>) => void (answer.body = sent),
      send: (sent: Record<string, unknown>) => void (answer.body = sent),
      end: () => undefined,
    };
    const sent = {
      query: { nextauth: path.split("/") },
      method: body ? "POST" : "GET",
      headers: { "user-agent": "Test browser" },
      cookies: Object.fromEntries(jar),
      body: { json: "true", ...body },
    };
    const call: unknown = NextAuth(
      sent as unknown as NextApiRequest,
      response as unknown as NextApiResponse,
      authOptions(),
    );
    await call;
    for (const cookie of answer.cookies) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === "") jar.delete(name);
      else jar.set(name, decodeURIComponent(value));
    }
    return answer;
  };
  const post = async (path: string, body: Record<string, string>): Promise<Answer> => {
    const { csrfToken } = (await request("csrf")).body;
    return request(path, { ...body, csrfToken: String(csrfToken) });
  };
  const session = async () => (await request("session")).body as Partial<Session>;
  return { request, post, session, jar };
};

const credentials = async (nonce?: string, account = people.pop()) => {
  if (account === undefined) throw new Error("More people sign in than are on the list.");
  const given = await getServices().auth.createNonce();
  const message = createSiweMessage({
    address: account.address,
    chainId: 31337,
    domain: given.domain,
    uri: given.uri,
    nonce: nonce ?? given.nonce,
    version: "1",
    issuedAt: clock.now(),
  });
  return {
    address: account.address,
    message,
    signature: await account.signMessage({ message }),
  };
};

const signedIn = async () => {
  const browser = newBrowser();
  const { address, message, signature } = await credentials();
  const answer = await browser.post("callback/credentials", { message, signature });
  return { ...browser, address, answer };
};

describe("the dashboard's sign-in", () => {
  test("gives a session with an access token that the API takes, in a cookie that scripts cannot read", async () => {
    const { answer, session, address } = await signedIn();
    expect(answer).toMatchObject({ status: 200, body: { url: "http://localhost:3000/" } });
    const cookie = answer.cookies.find((each) => each.startsWith("next-auth.session-token="));
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Lax/);
    const { accessToken = "", userId, ...rest } = await session();
    expect(rest).toMatchObject({ address });
    expect(await services.auth.verifyAccessToken(accessToken)).toMatchObject({ userId });
    expect(cookie).not.toContain(accessToken);
  });

  test("tells the page by its code why it was refused", async () => {
    const { message, signature } = await credentials("madeUpNonce123456");
    const { post, session } = newBrowser();
    const made = await post("callback/credentials", { message, signature });
    expect(made.status).toBe(401);
    expect(String(made.body.url)).toContain("error=invalid_signature");
    expect((await post("callback/credentials", { message: "", signature: "" })).status).toBe(
      401,
    );
    expect(await session()).toEqual({});
  });

  test("tells the page by its code that sign-up is closed, and keeps nothing of the stranger", async () => {
    const { message, signature } = await credentials(undefined, stranger);
    const { post, session } = newBrowser();
    const refused = await post("callback/credentials", { message, signature });
    expect(refused.status).toBe(401);
    expect(String(refused.body.url)).toContain("error=sign_up_closed");
    expect(await session()).toEqual({});
    expect(
      await services.database.prisma.user.count({ where: { address: stranger.address } }),
    ).toBe(0);
  });

  test("works once with each nonce", async () => {
    const { message, signature } = await credentials();
    const statuses = await Promise.all(
      Array.from(
        { length: 10 },
        async () =>
          (await newBrowser().post("callback/credentials", { message, signature })).status,
      ),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  test("is refused without the page's own csrf token", async () => {
    const { message, signature } = await credentials();
    const { request, session } = newBrowser();
    await request("callback/credentials", { message, signature, csrfToken: "guess" });
    expect(await session()).toEqual({});
  });

  test("leads back into the app, to no other site", async () => {
    const { message, signature } = await credentials();
    const { post } = newBrowser();
    const callbackUrl = "https://evil.example/steal";
    const { body } = await post("callback/credentials", { message, signature, callbackUrl });
    expect(body.url).toBe("http://localhost:3000");
  });

  test("renews the access token before it expires, while the session lives", async () => {
    const { session } = await signedIn();
    const first = await session();
    expect((await session()).accessToken).toBe(first.accessToken);
    aheadSeconds += 3600 - 299;
    const second = await session();
    expect(second.accessToken).not.toBe(first.accessToken);
    const { expiresAt } = await services.auth.verifyAccessToken(second.accessToken ?? "");
    expect(expiresAt.toISOString()).toBe(second.accessTokenExpiresAt);
  });

  test("ends everywhere when the person signs out, also for a copy of the cookie", async () => {
    const { post, session, jar } = await signedIn();
    const { accessToken = "" } = await session();
    const copy = newBrowser();
    for (const [name, value] of jar) copy.jar.set(name, value);
    await post("signout", {});
    expect(await session()).toEqual({});
    expect((await copy.session()).accessToken).toBeUndefined();
    await expect(services.auth.verifyAccessToken(accessToken)).rejects.toMatchObject({
      code: "unauthorized",
    });
  });
});

describe("the dashboard's session", () => {
  /** Runs `work` with another instance on the same database. */
  const onInstance = async (
    secrets: Partial<Services["config"]>,
    work: () => Promise<void>,
  ): Promise<void> => {
    const instance = createServices({ ...services.config, ...secrets }, { clock });
    setServices(instance);
    try {
      await work();
    } finally {
      setServices(services);
      await instance.close();
    }
  };

  test("stays while APP_SECRET is changed, and needs the new secret alone once it was used", async () => {
    const { session, address } = await signedIn();
    const appSecret = "another secret of at least thirty-two characters";
    await onInstance({ appSecret, appSecretPrevious: services.config.appSecret }, async () => {
      expect(await session()).toMatchObject({ address });
    });
    await onInstance({ appSecret }, async () => {
      expect(await session()).toMatchObject({ address });
    });
  });

  test("has cookies of this host alone where the service's own address is https", async () => {
    const { request } = newBrowser();
    const names = (cookies: readonly string[]) =>
      cookies.map((each) => each.slice(0, each.indexOf("=")));
    expect(names((await request("csrf")).cookies)).toEqual([
      "next-auth.csrf-token",
      "next-auth.callback-url",
    ]);
    await onInstance({ publicUrl: "https://pay.example" }, async () => {
      const { jar, answer } = await signedIn();
      expect([...jar.keys()].sort()).toEqual(
        ["callback-url", "csrf-token", "session-token"].map(
          (name) => `__Host-next-auth.${name}`,
        ),
      );
      for (const cookie of answer.cookies) {
        expect(cookie).toMatch(/; Secure/);
        expect(cookie).toMatch(/; Path=\//);
        expect(cookie).not.toMatch(/Domain=/);
      }
    });
  });

  test("gets a new access token when the key of the one that it has was removed", async () => {
    const { session } = await signedIn();
    const { accessToken = "" } = await session();
    await services.database.prisma.tokenKey.deleteMany();
    await onInstance({}, async () => {
      const renewed = await session();
      expect(renewed.accessToken).not.toBe(accessToken);
      expect(renewed.accessToken).toBeDefined();
    });
  });
});
