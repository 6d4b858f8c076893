import { mnemonicToAccount, type HDAccount } from "viem/accounts";
import type { Address } from "viem";

/**
 * The mnemonic that anvil and Hardhat publish. Everybody knows its keys, so they may be used on local chains only;
 * production refuses secrets with the prefix `dev_`.
 */
const PUBLIC_MNEMONIC = "test test test test test test test test test test test junk";

/** Account index of each role. The roles use separate accounts, so that their nonces never conflict. */
const ACCOUNT_INDEX = { deployer: 0, relayer: 2, postman: 3, faucet: 9 } as const;
type DevAccount = keyof typeof ACCOUNT_INDEX;

export const devAccount = (role: DevAccount): HDAccount =>
  mnemonicToAccount(PUBLIC_MNEMONIC, { addressIndex: ACCOUNT_INDEX[role] });

export const devAddress = (role: DevAccount): Address => devAccount(role).address;
