import { setTimeout as pause } from "node:timers/promises";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { startStack, type Stack } from "../../e2e/support/stack";
import { createApiClient, type ApiClient } from "../../lib/api-client/client";
import { createNonce, createToken } from "../../lib/contracts/auth";
import { useFaucet } from "../../lib/contracts/dev";
import {
  getPrivateBalances,
  getPrivateTransfer,
  privateTransfer,
  shield,
} from "../../lib/contracts/privacy";
import { listWallets } from "../../lib/contracts/wallets";
import { approvedKey } from "../../lib/dev/testing/approve";
import { median } from "./harness";
import { timed, type Note } from "./privacy-engine";

const CHAIN_ID = 31337;
const POLL_MS = 20;
const TIMEOUT_MS = 300_000;
const TRANSFERS = 3;
/** Number of consecutive requests to a route that needs no proof. */
const SAMPLES = 150;
const RECIPIENT = "0x00000000000000000000000000000000DeaDBeef";

/** Signs up a person, gives the person money, and creates an API key that needs no code. */
const signUp = async (stack: Stack): Promise<ApiClient> => {
  const account = privateKeyToAccount(generatePrivateKey());
  const { address } = account;
  const baseUrl = `${stack.url}/api`;
  const anybody = createApiClient({ baseUrl });
  const { nonce, domain, uri, statement } = await anybody.call(createNonce, { body: {} });
  const said = {
    address,
    chainId: CHAIN_ID,
    domain,
    nonce,
    statement,
    uri,
    version: "1",
    issuedAt: new Date(),
  } as const;
  const message = createSiweMessage(said);
  const signature = await account.signMessage({ message });
  const { accessToken } = await anybody.call(createToken, { body: { message, signature } });
  const client = createApiClient({
    baseUrl,
    headers: () => ({ authorization: `Bearer ${accessToken}` }),
  });
  const { data } = await client.call(listWallets, {});
  const treasury = data.find(({ kind }) => kind === "treasury")?.address;
  if (treasury === undefined) throw new Error("There is no treasury.");
  await client.call(useFaucet, {
    body: { address: treasury, chainId: CHAIN_ID, token: "USDC", amount: "100000" },
  });
  const { secret } = await approvedKey(account, client, {
    name: "bench",
    otp: "exempt",
    dailyCapUsd: "1000000",
  });
  return createApiClient({ baseUrl, headers: () => ({ "x-api-key": secret }) });
};

const until = async <T>(look: () => Promise<T | null>): Promise<T> => {
  const started = performance.now();
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (performance.now() - started > TIMEOUT_MS) throw new Error("It did not happen in time.");
    await pause(POLL_MS);
  }
};

const transferOf = (key: ApiClient, id: string) =>
  key.call(getPrivateTransfer, { params: { id } });

const begin = (key: ApiClient, amount: string) =>
  key.call(privateTransfer, {
    body: {
      chainId: CHAIN_ID,
      token: "USDC",
      amount,
      toAddress: RECIPIENT,
      acceptSmallSet: true,
    },
  });

/**
 * Makes one private transfer. Returns the milliseconds until it arrives, and the milliseconds that
 * its proof took.
 */
const transferOnce = async (key: ApiClient): Promise<{ total: number; proof: number }> => {
  const started = performance.now();
  const { transferId } = await begin(key, "10");
  let proofBegin = 0;
  let proofEnd = 0;
  const end = await until(async () => {
    const { proof, status } = await transferOf(key, transferId);
    if (proof !== null && proofBegin === 0) proofBegin = performance.now();
    if (proof === null && proofBegin > 0 && proofEnd === 0) proofEnd = performance.now();
    if (status === "failed" || status === "cancelled")
      throw new Error(`A transfer ended ${status}.`);
    return status === "completed" ? performance.now() : null;
  });
  return { total: Math.round(end - started), proof: Math.round(proofEnd - proofBegin) };
};

const sample = async (key: ApiClient, goesOn: () => boolean): Promise<number[]> => {
  const found: number[] = [];
  while (found.length < SAMPLES && goesOn())
    found.push(await timedExactly(() => key.call(listWallets, {})));
  return found;
};

const timedExactly = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};

/**
 * Measures a route without and then during a proof.
 * @returns the ratio of the medians
 */
const ratioOnce = async (key: ApiClient): Promise<number> => {
  const without = median(await sample(key, () => true));
  const { transferId } = await begin(key, "10");
  await until(async () =>
    (await transferOf(key, transferId)).subStatus === "proving" ? true : null,
  );
  let isProving = true;
  const watch = until(async () =>
    (await transferOf(key, transferId)).status === "completed" ? true : null,
  ).then(() => {
    isProving = false;
  });
  const during = median(await sample(key, () => isProving));
  await watch;
  return during / without;
};

/** Measures a separate stack as a caller sees it. Run `npm run build` before. */
export const benchStack = async (note: Note): Promise<void> => {
  const [stack, startMs] = await timed(startStack);
  try {
    note("Start of a fresh stack", `${String(startMs)} ms`);
    const key = await signUp(stack);
    const balance = async () => {
      const { data } = await key.call(getPrivateBalances, { query: {} });
      return Number(
        data.find(({ chainId, token }) => chainId === CHAIN_ID && token.symbol === "USDC")
          ?.spendable,
      );
    };
    const [, spendableMs] = await timed(async () => {
      await key.call(shield, { body: { chainId: CHAIN_ID, token: "USDC", amount: "1000" } });
      await until(async () => ((await balance()) > 0 ? true : null));
    });
    note(
      "Shield to spendable (2 s of them are the approval's delay)",
      `${String(spendableMs)} ms`,
    );
    const transfers = [];
    for (let at = 0; at < TRANSFERS; at += 1) transfers.push(await transferOnce(key));
    note(
      "Private transfer end to end, median",
      `${String(median(transfers.map(({ total }) => total)))} ms`,
    );
    const beyond = median(transfers.map(({ total, proof }) => total - proof));
    note("Of that beyond its proof, median", `${String(beyond)} ms`, "3,000 ms");
    const ratios = [];
    for (let at = 0; at < TRANSFERS; at += 1) ratios.push(await ratioOnce(key));
    note(
      "p50 of GET /wallets during a proof, against without",
      `${median(ratios).toFixed(2)} ×`,
      "1.30 ×",
    );
  } finally {
    await stack.stop();
  }
};
