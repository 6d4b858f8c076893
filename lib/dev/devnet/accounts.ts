import { mnemonicToAccount, type HDAccount } from "viem/accounts";
import type { Address } from "viem";

/**
 * The mnemonic that anvil and Hardhat publish. Everybody knows its keys, so they may be used on
 * local chains only.
 */
const PUBLIC_MNEMONIC = "test test test test test test test test test test test junk";

/**
 * Account index of each role. The roles use separate accounts, so that their nonces never conflict.
 */
const ACCOUNT_INDEX = { deployer: 0, relayer: 2, postman: 3, faucet: 9 } as const;
type DevAccount = keyof typeof ACCOUNT_INDEX;

// The derived account of each role. Deriving one takes about 20 ms of JavaScript (2,048 rounds of
// HMAC-SHA512, BIP-39), so each account is derived only once.
const derived = new Map<DevAccount, HDAccount>();

export const devAccount = (role: DevAccount): HDAccount => {
  const account =
    derived.get(role) ??
    mnemonicToAccount(PUBLIC_MNEMONIC, { addressIndex: ACCOUNT_INDEX[role] });
  derived.set(role, account);
  return account;
};

export const devAddress = (role: DevAccount): Address => devAccount(role).address;
