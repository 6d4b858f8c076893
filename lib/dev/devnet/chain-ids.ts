export const DEVNET_CHAIN_IDS = [31337, 31338, 31339] as const;
