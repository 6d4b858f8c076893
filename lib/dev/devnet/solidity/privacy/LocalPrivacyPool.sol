// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {InternalLeanIMT, LeanIMTData} from "@zk-kit/lean-imt.sol/InternalLeanIMT.sol";
import {PoseidonT4} from "poseidon-solidity/PoseidonT4.sol";
import {Assets, IERC20, NATIVE_ASSET, RagequitProof, Withdrawal, WithdrawProof} from "./Types.sol";

interface IVerifiers {
  function verifyProof(
    uint256[2] calldata pA,
    uint256[2][2] calldata pB,
    uint256[2] calldata pC,
    uint256[8] calldata pubSignals
  ) external view returns (bool);
  function verifyProof(
    uint256[2] calldata pA,
    uint256[2][2] calldata pB,
    uint256[2] calldata pC,
    uint256[4] calldata pubSignals
  ) external view returns (bool);
}

interface IRoots {
  function latestRoot() external view returns (uint256);
}

/// A pool of one asset for local chains, with the ABI, the events and the checks of 0xbow's PrivacyPoolSimple and PrivacyPoolComplex.
contract LocalPrivacyPool {
  using InternalLeanIMT for LeanIMTData;

  uint256 private constant SCALARS = 21888242871839275222246405745257275088548364400416034343698204186575808495617;
  uint32 public constant ROOT_HISTORY_SIZE = 64;
  uint32 public constant MAX_TREE_DEPTH = 32;

  uint256 public immutable SCOPE;
  address public immutable ASSET;
  address public immutable ENTRYPOINT;
  address public immutable WITHDRAWAL_VERIFIER;
  address public immutable RAGEQUIT_VERIFIER;

  uint256 public nonce;
  bool public dead;
  uint32 public currentRootIndex;
  LeanIMTData private tree;
  mapping(uint256 index => uint256 root) public roots;
  mapping(uint256 hash => bool spent) public nullifierHashes;
  mapping(uint256 label => address depositor) public depositors;

  event Deposited(
    address indexed _depositor,
    uint256 _commitment,
    uint256 _label,
    uint256 _value,
    uint256 _precommitmentHash
  );
  event Withdrawn(address indexed _processooor, uint256 _value, uint256 _spentNullifier, uint256 _newCommitment);
  event Ragequit(address indexed _ragequitter, uint256 _commitment, uint256 _label, uint256 _value);
  event LeafInserted(uint256 _index, uint256 _leaf, uint256 _root);
  event PoolDied();

  error ContextMismatch();
  error IncorrectASPRoot();
  error InvalidCommitment();
  error InvalidDepositValue();
  error InvalidProcessooor();
  error InvalidProof();
  error InvalidTreeDepth();
  error MaxTreeDepthReached();
  error NullifierAlreadySpent();
  error OnlyEntrypoint();
  error OnlyOriginalDepositor();
  error PoolIsDead();
  error UnknownStateRoot();

  modifier onlyEntrypoint() {
    if (msg.sender != ENTRYPOINT) revert OnlyEntrypoint();
    _;
  }

  constructor(address entrypoint, address withdrawalVerifier, address ragequitVerifier, address asset) {
    (ENTRYPOINT, WITHDRAWAL_VERIFIER, RAGEQUIT_VERIFIER, ASSET) = (
      entrypoint,
      withdrawalVerifier,
      ragequitVerifier,
      asset
    );
    SCOPE = uint256(keccak256(abi.encodePacked(address(this), block.chainid, asset))) % SCALARS;
  }

  function currentRoot() external view returns (uint256) {
    return tree.sideNodes[tree.depth];
  }

  function currentTreeDepth() external view returns (uint256) {
    return tree.depth;
  }

  function currentTreeSize() external view returns (uint256) {
    return tree.size;
  }

  function deposit(
    address depositor,
    uint256 value,
    uint256 precommitment
  ) external payable onlyEntrypoint returns (uint256 commitment) {
    if (dead) revert PoolIsDead();
    if (value >= type(uint128).max) revert InvalidDepositValue();
    uint256 label = uint256(keccak256(abi.encodePacked(SCOPE, ++nonce))) % SCALARS;
    depositors[label] = depositor;
    commitment = PoseidonT4.hash([value, label, precommitment]);
    _insert(commitment);
    if (ASSET == NATIVE_ASSET) {
      if (msg.value != value) revert InvalidDepositValue();
    } else {
      if (msg.value != 0) revert InvalidDepositValue();
      Assets.pull(ASSET, msg.sender, value);
    }
    emit Deposited(depositor, commitment, label, value, precommitment);
  }

  function withdraw(Withdrawal calldata withdrawal, WithdrawProof calldata proof) external {
    uint256[8] calldata signals = proof.pubSignals;
    if (msg.sender != withdrawal.processooor) revert InvalidProcessooor();
    if (signals[7] != uint256(keccak256(abi.encode(withdrawal, SCOPE))) % SCALARS) revert ContextMismatch();
    if (signals[4] > MAX_TREE_DEPTH || signals[6] > MAX_TREE_DEPTH) revert InvalidTreeDepth();
    if (!_isKnownRoot(signals[3])) revert UnknownStateRoot();
    if (signals[5] != IRoots(ENTRYPOINT).latestRoot()) revert IncorrectASPRoot();
    if (!IVerifiers(WITHDRAWAL_VERIFIER).verifyProof(proof.pA, proof.pB, proof.pC, signals)) revert InvalidProof();
    _spend(signals[1]);
    _insert(signals[0]);
    Assets.send(ASSET, withdrawal.processooor, signals[2]);
    emit Withdrawn(withdrawal.processooor, signals[2], signals[1], signals[0]);
  }

  /// The public exit of whoever deposited, for a note that was not approved. It needs no association set.
  function ragequit(RagequitProof calldata proof) external {
    uint256[4] calldata signals = proof.pubSignals;
    if (depositors[signals[3]] != msg.sender) revert OnlyOriginalDepositor();
    if (!IVerifiers(RAGEQUIT_VERIFIER).verifyProof(proof.pA, proof.pB, proof.pC, signals)) revert InvalidProof();
    if (tree.leaves[signals[0]] == 0) revert InvalidCommitment();
    _spend(signals[1]);
    Assets.send(ASSET, msg.sender, signals[2]);
    emit Ragequit(msg.sender, signals[0], signals[3], signals[2]);
  }

  function windDown() external onlyEntrypoint {
    if (dead) revert PoolIsDead();
    dead = true;
    emit PoolDied();
  }

  function _spend(uint256 nullifierHash) private {
    if (nullifierHashes[nullifierHash]) revert NullifierAlreadySpent();
    nullifierHashes[nullifierHash] = true;
  }

  function _insert(uint256 leaf) private {
    uint256 root = tree._insert(leaf);
    if (tree.depth > MAX_TREE_DEPTH) revert MaxTreeDepthReached();
    currentRootIndex = (currentRootIndex + 1) % ROOT_HISTORY_SIZE;
    roots[currentRootIndex] = root;
    emit LeafInserted(tree.size, leaf, root);
  }

  function _isKnownRoot(uint256 root) private view returns (bool) {
    if (root == 0) return false;
    uint32 index = currentRootIndex;
    for (uint32 i = 0; i < ROOT_HISTORY_SIZE; ++i) {
      if (roots[index] == root) return true;
      index = (index + ROOT_HISTORY_SIZE - 1) % ROOT_HISTORY_SIZE;
    }
    return false;
  }
}
