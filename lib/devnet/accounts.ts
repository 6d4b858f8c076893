import { mnemonicToAccount, type HDAccount } from "viem/accounts";
import type { Address } from "viem";

/**
 * The mnemonic that anvil and Hardhat publish. Whoever reads this owns these accounts, so they are good for local chains
 * and nothing else; production refuses secrets with the prefix `dev_`.
 */
const PUBLIC_MNEMONIC = "test test test test test test test test test test test junk";

/** Which account of the mnemonic does what. Each role has its own, so that no two parts fight over a nonce. */
const ACCOUNT_INDEX = { deployer: 0, relayer: 2, postman: 3, faucet: 9 } as const;
type DevAccount = keyof typeof ACCOUNT_INDEX;

export const devAccount = (role: DevAccount): HDAccount =>
  mnemonicToAccount(PUBLIC_MNEMONIC, { addressIndex: ACCOUNT_INDEX[role] });

export const devAddress = (role: DevAccount): Address => devAccount(role).address;
