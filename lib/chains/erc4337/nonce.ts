import { keccak256, slice, stringToBytes } from "viem";

const SEQUENCE_BITS = 64n;

/**
 * The nonce key of a leg: the first 192 bits of keccak256 of its id. As every operation takes sequence 0 of its leg's
 * key, EntryPoint itself executes at most one operation per leg, whatever is signed or sent twice.
 */
export const nonceKeyOf = (legId: string): bigint => BigInt(slice(keccak256(stringToBytes(legId)), 0, 24));

/** Key (192 bits) and sequence 0. */
export const firstNonceOf = (nonceKey: bigint): bigint => nonceKey << SEQUENCE_BITS;

/** `getNonce` answers key and sequence together; the sequence counts what was executed. */
export const sequenceOf = (nonce: bigint): bigint => nonce & ((1n << SEQUENCE_BITS) - 1n);
