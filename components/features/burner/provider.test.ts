import { privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { stringToHex, verifyMessage, verifyTypedData, type Hex } from "viem";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { currentRequest } from "./confirm-store";
import { readBurnerKeys } from "./key";
import { createBurnerProvider } from "./provider";

const CHAIN = {
  id: 31337,
  name: "Local 1",
  testnet: true,
  rpcUrl: "http://127.0.0.1:1",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  explorerUrl: null,
  multicall3: "0xcA11bde05977b3631167028862bE2a173976CA11",
} as const;

const TYPED = {
  domain: { name: "Test", chainId: 31337 },
  types: { Note: [{ name: "text", type: "string" }] },
  primaryType: "Note",
  message: { text: "pay Ada" },
} as const;

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
  vi.stubGlobal("window", { location: { host: "localhost:3000" } });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

const address = (): Hex => privateKeyToAccount(readBurnerKeys()[0]).address;

test("no account is given before the person connected", async () => {
  const { request } = createBurnerProvider([CHAIN]);
  expect(await request({ method: "eth_accounts" })).toEqual([]);
  expect(await request({ method: "eth_requestAccounts" })).toEqual([address()]);
  expect(await request({ method: "eth_accounts" })).toEqual([address()]);
});

test("typed data is shown whole and signed only when the person agrees", async () => {
  const { request } = createBurnerProvider([CHAIN]);
  const params = [address(), JSON.stringify(TYPED)];
  const refused = request({ method: "eth_signTypedData_v4", params });
  expect(currentRequest()?.text).toContain("pay Ada");
  currentRequest()?.answer(false);
  await expect(refused).rejects.toMatchObject({ code: 4001 });

  const agreed = request({ method: "eth_signTypedData_v4", params });
  currentRequest()?.answer(true);
  expect(
    await verifyTypedData({ ...TYPED, address: address(), signature: (await agreed) as Hex }),
  ).toBe(true);
});

test("the sign-in message of this page is not asked for twice, one of another site is shown", async () => {
  const { request } = createBurnerProvider([CHAIN]);
  const message = (domain: string): string =>
    createSiweMessage({
      address: address(),
      chainId: 31337,
      domain,
      nonce: "12345678",
      uri: `http://${domain}`,
      version: "1",
    });
  const own = message("localhost:3000");
  const signature = (await request({
    method: "personal_sign",
    params: [stringToHex(own), address()],
  })) as Hex;
  expect(await verifyMessage({ address: address(), message: own, signature })).toBe(true);

  const foreign = request({
    method: "personal_sign",
    params: [stringToHex(message("evil.example")), address()],
  });
  expect(currentRequest()?.text).toContain("evil.example");
  currentRequest()?.answer(false);
  await expect(foreign).rejects.toMatchObject({ code: 4001 });
});

test("a transaction is not sent when the person refuses", async () => {
  const { request } = createBurnerProvider([CHAIN]);
  const sending = request({
    method: "eth_sendTransaction",
    params: [{ to: CHAIN.multicall3, value: "0xde0b6b3a7640000" }],
  });
  expect(currentRequest()?.text).toContain("Value: 1 ETH");
  currentRequest()?.answer(false);
  await expect(sending).rejects.toMatchObject({ code: 4001 });
});

test("a chain that is not configured is refused as wallets do", async () => {
  const { request } = createBurnerProvider([CHAIN]);
  await expect(
    request({ method: "wallet_switchEthereumChain", params: [{ chainId: "0x1" }] }),
  ).rejects.toMatchObject({
    code: 4902,
  });
});

test("it makes further accounts when asked, keeps the first, and signs with the one that is named", async () => {
  const { request } = createBurnerProvider([CHAIN]);
  const [first] = (await request({ method: "eth_requestAccounts" })) as Hex[];
  await request({ method: "wallet_requestPermissions", params: [{ eth_accounts: {} }] });
  const accounts = (await request({ method: "eth_accounts" })) as Hex[];
  const second = accounts[1];
  if (second === undefined) throw new Error("No account was made.");
  expect(accounts).toEqual([first, second]);
  const signing = request({
    method: "eth_signTypedData_v4",
    params: [second, JSON.stringify(TYPED)],
  });
  expect(currentRequest()?.account).toBe(second);
  currentRequest()?.answer(true);
  expect(
    await verifyTypedData({ ...TYPED, address: second, signature: (await signing) as Hex }),
  ).toBe(true);
});

test("a request of an account that it does not have is refused before anybody is asked", async () => {
  const { request } = createBurnerProvider([CHAIN]);
  const params = [CHAIN.multicall3, JSON.stringify(TYPED)];
  await expect(request({ method: "eth_signTypedData_v4", params })).rejects.toMatchObject({
    code: 4100,
  });
  await expect(
    request({
      method: "eth_sendTransaction",
      params: [{ from: CHAIN.multicall3, to: CHAIN.multicall3 }],
    }),
  ).rejects.toMatchObject({ code: 4100 });
});
