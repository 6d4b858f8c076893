import { keccak256, slice, stringToBytes } from "viem";

const SEQUENCE_BITS = 64n;

/**
 * The nonce key of a leg: the first 192 bits of keccak256 of its id. Every operation of a leg takes sequence 0 of this
 * key, so EntryPoint executes at most one operation per leg, even when several are signed or one is sent twice.
 */
export const nonceKeyOf = (legId: string): bigint => BigInt(slice(keccak256(stringToBytes(legId)), 0, 24));

/** Key (192 bits) and sequence 0. */
export const firstNonceOf = (nonceKey: bigint): bigint => nonceKey << SEQUENCE_BITS;

/**
 * The sequence within the answer of `getNonce` (key and sequence together). It counts the executed operations of the
 * key.
 */
export const sequenceOf = (nonce: bigint): bigint => nonce & ((1n << SEQUENCE_BITS) - 1n);
