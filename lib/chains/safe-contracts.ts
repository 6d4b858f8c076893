import type { Address } from "viem";

/** Contracts of Safe 1.4.1 and of its ERC-4337 module for EntryPoint v0.7. */
export interface SafeContracts {
  readonly singleton: Address;
  readonly proxyFactory: Address;
  readonly module4337: Address;
  readonly moduleSetup: Address;
  readonly multiSend: Address;
  readonly multiSendCallOnly: Address;
}

/** The addresses on every public chain; they are the same everywhere because of CREATE2. */
export const CANONICAL_SAFE: SafeContracts = {
  singleton: "0x41675C099F32341bf84BFc5382aF534df5C7461a",
  proxyFactory: "0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67",
  module4337: "0x75cf11467937ce3F2f357CE24ffc3DBF8fD5c226",
  moduleSetup: "0x2dd68b007B46fBe91B9A7c3EDa5A7a1063cB5b47",
  multiSend: "0x38869bf66a61cF6bDB996A6aE40D5853Fd43B526",
  multiSendCallOnly: "0x9641d764fc13c8B624c04430C7356C1C7C8102e2",
};
