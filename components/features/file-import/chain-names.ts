/**
 * The chain's id by its name or short name (EIP-3770) in files of other programs; null for chains
 * that are not EVM chains.
 */
const CHAIN_IDS: Readonly<Record<string, number | null>> = {
  ethereum: 1,
  ethereummainnet: 1,
  mainnet: 1,
  eth: 1,
  sepolia: 11_155_111,
  sep: 11_155_111,
  optimism: 10,
  op: 10,
  opmainnet: 10,
  oeth: 10,
  bsc: 56,
  bnb: 56,
  bnbchain: 56,
  bnbsmartchain: 56,
  binancesmartchain: 56,
  gnosis: 100,
  gnosischain: 100,
  gno: 100,
  xdai: 100,
  polygon: 137,
  polygonpos: 137,
  matic: 137,
  pol: 137,
  base: 8_453,
  arbitrum: 42_161,
  arbitrumone: 42_161,
  arb: 42_161,
  arb1: 42_161,
  avalanche: 43_114,
  avalanchecchain: 43_114,
  avax: 43_114,
  celo: 42_220,
  linea: 59_144,
  scroll: 534_352,
  scr: 534_352,
  zksync: 324,
  zksyncera: 324,
  mantle: 5_000,
  unichain: 130,
  erc20: 1,
  bep20: 56,
  bitcoin: null,
  btc: null,
  solana: null,
  sol: null,
  spl: null,
  tron: null,
  trx: null,
  trc20: null,
  ton: null,
  stellar: null,
  ripple: null,
  xrp: null,
};
/** Symbols and token standards. They name a chain only in a column with a heading for chains. */
const ONLY_UNDER_HEADING = new Set(
  "eth bnb matic pol arb op avax celo sol trx btc xrp ton gno erc20 bep20 trc20 spl base xdai scr mantle".split(
    " ",
  ),
);

interface ChainName {
  readonly id: number;
  readonly name: string;
}

/** A name in lower case, without spaces and signs. */
export const bareText = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, "");

const idOf = (text: string): number | null => {
  const [, digits] = /^(?:eip155:)?(\d{1,15})$/i.exec(text.trim()) ?? [];
  if (digits !== undefined) return Number(digits);
  const name = bareText(text);
  return Object.hasOwn(CHAIN_IDS, name) ? (CHAIN_IDS[name] ?? null) : null;
};

/** Whether a cell names the chain by its name, id, CAIP-2 id or short name. */
export const namesChain = (text: string, chain: ChainName): boolean =>
  bareText(text) === bareText(chain.name) || idOf(text) === chain.id;

/**
 * Whether a text is certainly the name of a chain.
 * @param chains names of the configured chains
 */
export const looksLikeChain = (text: string, chains: readonly string[]): boolean => {
  const name = bareText(text);
  if (name === "") return false;
  if (/^eip155:\d+$/i.test(text.trim()) || chains.some((chain) => bareText(chain) === name))
    return true;
  return Object.hasOwn(CHAIN_IDS, name) && !ONLY_UNDER_HEADING.has(name);
};
