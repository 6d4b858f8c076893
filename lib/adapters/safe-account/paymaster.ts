import { concatHex, encodeAbiParameters, keccak256, type Hex } from "viem";
import { packUserOperation } from "@/lib/chains/erc4337/user-operation";
import type { UserOperation } from "@/lib/ports/bundler";
import type { EvmAddress } from "@/lib/ports/routing";
import type { Signer, SignerScope } from "@/lib/ports/signer";
import { unixSeconds } from "./signing";

/** The service's own key; the address that the paymaster contract was deployed with. */
const PAYMASTER_KEY: SignerScope = { keyId: "paymaster", projectId: null };
const VALID_AFTER = 0;

const validityOf = (validUntil: Date): Hex =>
  encodeAbiParameters([{ type: "uint48" }, { type: "uint48" }], [unixSeconds(validUntil), VALID_AFTER]);

interface Sponsored {
  readonly chainId: number;
  readonly paymaster: EvmAddress;
  readonly operation: UserOperation;
  readonly validUntil: Date;
}

/** `getHash` of VerifyingPaymaster (account-abstraction 0.7.0), computed here so that signing needs no network. */
export const paymasterHash = ({ chainId, paymaster, operation, validUntil }: Sponsored): Hex => {
  const packed = packUserOperation({ ...operation, paymaster, paymasterData: "0x" });
  // paymaster (20 bytes) ‖ verification gas (16) ‖ post-operation gas (16): the two gas limits are one word.
  const paymasterGas = BigInt(`0x${packed.paymasterAndData.slice(2 + 40, 2 + 40 + 64)}`);
  return keccak256(
    encodeAbiParameters(
      [
        { type: "address" },
        { type: "uint256" },
        { type: "bytes32" },
        { type: "bytes32" },
        { type: "bytes32" },
        { type: "uint256" },
        { type: "uint256" },
        { type: "bytes32" },
        { type: "uint256" },
        { type: "address" },
        { type: "uint48" },
        { type: "uint48" },
      ],
      [
        operation.sender,
        operation.nonce,
        keccak256(packed.initCode),
        keccak256(packed.callData),
        packed.accountGasLimits,
        paymasterGas,
        operation.preVerificationGas,
        packed.gasFees,
        BigInt(chainId),
        paymaster,
        unixSeconds(validUntil),
        VALID_AFTER,
      ],
    ),
  );
};

export interface PaymasterSigner {
  /** Paymaster data for the estimate. The signature is real, over nothing: a made-up one would revert, not fail. */
  stubData(): Promise<Hex>;
  /** Validity and signature; to be made once gas and fees stand, and before the owner signs. */
  data(sponsored: Sponsored): Promise<Hex>;
}

const STUB_HASH = keccak256("0x");
/** Valid at any time. */
const STUB_VALIDITY = encodeAbiParameters([{ type: "uint48" }, { type: "uint48" }], [2 ** 48 - 1, VALID_AFTER]);

export const createPaymasterSigner = (signer: Signer): PaymasterSigner => {
  let stub: Promise<Hex> | null = null;
  const signStub = async (): Promise<Hex> =>
    concatHex([STUB_VALIDITY, await signer.signMessage(PAYMASTER_KEY, STUB_HASH)]);
  return {
    stubData: () => {
      stub ??= signStub().catch((error: unknown) => {
        stub = null;
        throw error;
      });
      return stub;
    },
    data: async (sponsored) =>
      concatHex([validityOf(sponsored.validUntil), await signer.signMessage(PAYMASTER_KEY, paymasterHash(sponsored))]),
  };
};
