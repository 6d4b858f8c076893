import type { Address } from "viem";

/**
 * The address of the local sanctions oracle. A constant, because computing it hashes the code of
 * every contract.
 */
export const LOCAL_SANCTIONS_LIST: Address = "0x9b94fE7EC75e6EE77195c2cE449f23e53b13Cd3E";
