import { expect, test } from "vitest";
import { SCOPES } from "@/lib/contracts/contract";
import { isWider, isWiderThanDefault, type KeyRights, wideningOf } from "./rules";

const SHOP = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const BANK = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const MAY = new Date("2026-05-01T00:00:00Z");
const JUNE = new Date("2026-06-01T00:00:00Z");

const base: KeyRights = {
  scopes: ["balances:read", "transfers:write"],
  policy: { otp: "exempt", dailyCapUsd: "500", recipients: [SHOP] },
  networks: ["203.0.113.0/24"],
  expiresAt: MAY,
};
const withPolicy = (policy: Partial<KeyRights["policy"]>): KeyRights => ({
  ...base,
  policy: { ...base.policy, ...policy },
});
const required = withPolicy({ otp: "required", dailyCapUsd: null });
const anybody = withPolicy({ recipients: [] });

test.each<[string, KeyRights, KeyRights]>([
  ["a scope more", base, { ...base, scopes: [...base.scopes, "wallets:read"] }],
  ["another scope instead of one", base, { ...base, scopes: ["balances:read", "swaps:write"] }],
  ["a higher cap", base, withPolicy({ dailyCapUsd: "500.000001" })],
  ["a cap of more digits", base, withPolicy({ dailyCapUsd: "1000" })],
  ["required → exempt", required, base],
  ["a recipient more", base, withPolicy({ recipients: [SHOP, BANK] })],
  ["another recipient", base, withPolicy({ recipients: [BANK] })],
  ["from a list to any", base, anybody],
  ["a network more", base, { ...base, networks: ["203.0.113.0/24", "198.51.100.0/24"] }],
  ["from networks to any", base, { ...base, networks: [] }],
  ["a later expiry", base, { ...base, expiresAt: JUNE }],
  ["no expiry", base, { ...base, expiresAt: null }],
  [
    "narrower in one respect, wider in another",
    base,
    { ...withPolicy({ dailyCapUsd: "1" }), expiresAt: JUNE },
  ],
])("a change of a key is wider: %s", (_what, before, after) => {
  expect(isWider(before, after)).toBe(true);
});

test.each<[string, KeyRights, KeyRights]>([
  ["the same", base, base],
  ["fewer scopes", base, { ...base, scopes: ["balances:read"] }],
  ["a lower cap", base, withPolicy({ dailyCapUsd: "499.999999" })],
  ["exempt → required", base, required],
  ["fewer recipients", withPolicy({ recipients: [SHOP, BANK] }), base],
  ["from any to a list", anybody, base],
  ["an earlier expiry", { ...base, expiresAt: JUNE }, base],
  ["an expiry where there was none", { ...base, expiresAt: null }, base],
])("a change of a key is not wider: %s", (_what, before, after) => {
  expect(isWider(before, after)).toBe(false);
});

test("a change of a key is told with the value of now and the new one, and what stays is left out", () => {
  const key = { ...base, id: "key_1", name: "Shop", prefix: "cw_test_Ab3x", last4: "9ZqP" };
  const after = {
    ...withPolicy({ dailyCapUsd: "900", recipients: [SHOP, BANK] }),
    name: "Till",
  };
  const { title, lines } = wideningOf(key, after);
  expect(title).toBe('Let the API key "Shop" (cw_test_Ab3x…9ZqP, key_1) do more');
  expect(lines).toEqual([
    'Name: "Till" (now "Shop")',
    "Moves money without a code: up to 900 US dollars per UTC day (now up to 500 US dollars per UTC day)",
    `Sends to: ${SHOP}, ${BANK} (now ${SHOP})`,
  ]);
});

test("a new key is wider than a name alone gives when it is exempt, and not when it is restricted", () => {
  const plain: KeyRights = { ...required, scopes: SCOPES, expiresAt: null };
  expect(isWiderThanDefault(plain)).toBe(false);
  expect(isWiderThanDefault({ ...plain, expiresAt: MAY })).toBe(false);
  expect(isWiderThanDefault(withPolicy({ dailyCapUsd: "0.01" }))).toBe(true);
});
