import { expect, test } from "vitest";
import type { EvmAddress } from "@/lib/core/evm";
import { warningsAbout, type ChainCodes, type Recipient, type RecipientFacts } from "./rules";

const at = (digit: string): EvmAddress => `0x${digit.repeat(40)}`;
const [ADA, BOB, EVE] = [at("a"), at("b"), at("e")];
const TWIN: EvmAddress = `0xaaaa${"1".repeat(32)}aaaa`;
const NOTHING: RecipientFacts = {
  known: [],
  own: new Set(),
  chains: [],
  listed: new Map(),
  frozen: new Map(),
  unpaid: new Set(),
};
const row = (address: EvmAddress, index: number): Recipient => ({
  path: `transfers.${String(index)}.address`,
  address,
});
const chain = (chainId: number, isPaid: boolean, codes: ChainCodes["codes"]): ChainCodes => ({
  chainId,
  name: `Chain ${String(chainId)}`,
  isPaid,
  codes,
});
const codesOf = (
  recipients: readonly EvmAddress[],
  facts: Partial<RecipientFacts>,
  max?: number,
) =>
  warningsAbout(recipients.map(row), { ...NOTHING, ...facts }, max).map(({ code, path }) => [
    code,
    path,
  ]);

test("an address of which nothing is known gets no warning", () => {
  expect(codesOf([ADA], {})).toEqual([]);
});

test("several warnings about one address stand together, the worst first, under its field", () => {
  const facts = {
    known: [{ address: ADA, name: "Ada", as: "contact" as const }],
    listed: new Map([[TWIN, "is listed by sdn"]]),
    frozen: new Map([[TWIN, ["USDC", "USDT"]]]),
    chains: [chain(1, true, new Map([[TWIN, "token" as const]]))],
  };
  expect(codesOf([BOB, TWIN], facts).map(([code]) => code)).toEqual([
    "recipient_listed",
    "recipient_frozen",
    "token_contract",
    "lookalike_recipient",
  ]);
  expect(new Set(codesOf([BOB, TWIN], facts).map(([, path]) => path))).toEqual(
    new Set(["transfers.1.address"]),
  );
});

const CONTRACT = new Map([[EVE, "contract" as const]]);
test.each([
  [
    "a contract of another chain and not of the one that pays",
    [chain(1, true, new Map()), chain(2, false, CONTRACT)],
    true,
  ],
  ["a contract on both", [chain(1, true, CONTRACT), chain(2, false, CONTRACT)], false],
  [
    "a contract of the chain that pays alone",
    [chain(1, true, CONTRACT), chain(2, false, new Map())],
    false,
  ],
  [
    "a contract on one of the chains that pay",
    [chain(1, true, CONTRACT), chain(2, true, new Map())],
    true,
  ],
  [
    "a contract elsewhere, while the chain that pays does not answer",
    [chain(2, false, CONTRACT)],
    false,
  ],
])("%s", (_, chains, warns) => {
  expect(codesOf([EVE], { chains })).toEqual(
    warns ? [["code_elsewhere", "transfers.0.address"]] : [],
  );
  expect(codesOf([EVE], { chains, own: new Set([EVE]) })).toEqual([]);
});

test("first payments are one warning, which names the first field of the first address and is never cut off", () => {
  expect(codesOf([ADA, BOB, EVE, BOB], { unpaid: new Set([BOB, EVE]) })).toEqual([
    ["first_payment", "transfers.1.address"],
  ]);
  const [warning] = warningsAbout([ADA, BOB, EVE, BOB].map(row), {
    ...NOTHING,
    unpaid: new Set([BOB, EVE]),
  });
  expect(warning?.message).toContain("2 of 3 recipients");
  const frozen = new Map([[ADA, ["USDC"]]]);
  const many = Array.from({ length: 200 }, () => ADA);
  expect(codesOf(many, { frozen, unpaid: new Set([ADA]) })).toHaveLength(100);
  expect(codesOf(many, { frozen, unpaid: new Set([ADA]) }).at(-1)).toEqual([
    "first_payment",
    "transfers.0.address",
  ]);
});
