import { expect, type APIRequestContext } from "@playwright/test";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";

const accounts = new WeakMap<APIRequestContext, PrivateKeyAccount>();

/** Returns the wallet account with which `signIn` signed in. */
export const accountOf = (request: APIRequestContext): PrivateKeyAccount => {
  const account = accounts.get(request);
  if (account === undefined)
    throw new Error("Nobody signed in with these cookies by signIn().");
  return account;
};

/**
 * Signs in without the sign-in page: gives the cookies of `request` a new session. Use it for
 * journeys that need no wallet in the browser; `page.request` shares the page's cookies.
 * @param account the wallet to sign in with; by default a new person
 */
export const signIn = async (
  request: APIRequestContext,
  account: PrivateKeyAccount = privateKeyToAccount(generatePrivateKey()),
): Promise<void> => {
  const { address } = account;
  const nonce = await request.post("/api/auth/nonce", { data: { address } });
  const given = (await nonce.json()) as { nonce: string; domain: string; uri: string };
  const message = createSiweMessage({ ...given, address, chainId: 31337, version: "1" });
  const signature = await account.signMessage({ message });
  const { csrfToken } = (await (await request.get("/api/auth/csrf")).json()) as {
    csrfToken: string;
  };
  const form = { message, signature, csrfToken, json: "true" };
  // A browser sends the header `Origin` by itself. Without it the service refuses a change that is
  // authenticated by a cookie.
  const headers = { origin: new URL(given.uri).origin };
  expect(
    (await request.post("/api/auth/callback/credentials", { form, headers })).status(),
  ).toBe(200);
  accounts.set(request, account);
};
