// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// Verifies Groth16 proofs over BN254 with a key that is part of the code (ERC-197, ERC-196 precompiles).
/// Key: alpha (2 words), beta, gamma, delta (4 words each, imaginary part first), then one point for each public signal and one more.
abstract contract Groth16 {
  uint256 internal constant SCALARS = 21888242871839275222246405745257275088548364400416034343698204186575808495617;
  uint256 internal constant BASE = 21888242871839275222246405745257275088696311157297823662689037894645226208583;
  uint256 private constant ALPHA = 0;
  uint256 private constant BETA = 2;
  uint256 private constant GAMMA = 6;
  uint256 private constant DELTA = 10;
  uint256 private constant POINTS = 14;

  function _verify(
    bytes memory key,
    uint256[2] calldata pA,
    uint256[2][2] calldata pB,
    uint256[2] calldata pC,
    uint256[] memory signals
  ) internal view returns (bool) {
    uint256[2] memory sum = [_word(key, POINTS), _word(key, POINTS + 1)];
    for (uint256 i = 0; i < signals.length; ++i) {
      // A signal plus the field's size would pass with the same proof, and a nullifier could be spent twice.
      if (signals[i] >= SCALARS) return false;
      uint256 at = POINTS + 2 + 2 * i;
      uint256[3] memory factor = [_word(key, at), _word(key, at + 1), signals[i]];
      uint256[4] memory terms;
      terms[0] = sum[0];
      terms[1] = sum[1];
      bool done;
      assembly ("memory-safe") {
        done := staticcall(gas(), 7, factor, 96, add(terms, 64), 64)
        done := and(done, staticcall(gas(), 6, terms, 128, sum, 64))
      }
      if (!done) return false;
    }
    if (pA[1] >= BASE) return false;
    uint256[24] memory pairs;
    (pairs[0], pairs[1]) = (pA[0], pA[1] == 0 ? 0 : BASE - pA[1]);
    (pairs[2], pairs[3], pairs[4], pairs[5]) = (pB[0][0], pB[0][1], pB[1][0], pB[1][1]);
    (pairs[6], pairs[7]) = (_word(key, ALPHA), _word(key, ALPHA + 1));
    (pairs[12], pairs[13]) = (sum[0], sum[1]);
    (pairs[18], pairs[19]) = (pC[0], pC[1]);
    for (uint256 i = 0; i < 4; ++i) {
      pairs[8 + i] = _word(key, BETA + i);
      pairs[14 + i] = _word(key, GAMMA + i);
      pairs[20 + i] = _word(key, DELTA + i);
    }
    uint256[1] memory holds;
    bool answered;
    assembly ("memory-safe") {
      answered := staticcall(gas(), 8, pairs, 768, holds, 32)
    }
    return answered && holds[0] == 1;
  }

  function _word(bytes memory key, uint256 index) private pure returns (uint256 word) {
    assembly ("memory-safe") {
      word := mload(add(add(key, 32), mul(index, 32)))
    }
  }
}
