// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {Groth16} from "./Groth16.sol";
// Made by scripts/compile-contracts.mjs from the verification keys of the circuit files.
import {Keys} from "./Keys.sol";

contract WithdrawalVerifier is Groth16 {
  function verifyProof(
    uint256[2] calldata pA,
    uint256[2][2] calldata pB,
    uint256[2] calldata pC,
    uint256[8] calldata pubSignals
  ) external view returns (bool) {
    uint256[] memory signals = new uint256[](8);
    for (uint256 i = 0; i < 8; ++i) signals[i] = pubSignals[i];
    return _verify(Keys.WITHDRAWAL, pA, pB, pC, signals);
  }
}

contract CommitmentVerifier is Groth16 {
  function verifyProof(
    uint256[2] calldata pA,
    uint256[2][2] calldata pB,
    uint256[2] calldata pC,
    uint256[4] calldata pubSignals
  ) external view returns (bool) {
    uint256[] memory signals = new uint256[](4);
    for (uint256 i = 0; i < 4; ++i) signals[i] = pubSignals[i];
    return _verify(Keys.COMMITMENT, pA, pB, pC, signals);
  }
}
