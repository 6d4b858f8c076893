// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {Assets, NATIVE_ASSET, Withdrawal, WithdrawProof} from "./Types.sol";

interface IPool {
  function ASSET() external view returns (address);
  function SCOPE() external view returns (uint256);
  function ENTRYPOINT() external view returns (address);
  function deposit(address depositor, uint256 value, uint256 precommitment) external payable returns (uint256);
  function withdraw(Withdrawal calldata withdrawal, WithdrawProof calldata proof) external;
}

/// The door to the pools of a local chain, with the ABI, the events and the checks of 0xbow's Entrypoint; not upgradeable.
contract LocalEntrypoint {
  struct RelayData {
    address recipient;
    address feeRecipient;
    uint256 relayFeeBPS;
  }
  struct AssetConfig {
    address pool;
    uint256 minimumDepositAmount;
    uint256 vettingFeeBPS;
    uint256 maxRelayFeeBPS;
  }
  struct AssociationSet {
    uint256 root;
    string ipfsCID;
    uint256 timestamp;
  }

  bytes32 public constant OWNER_ROLE = 0xb19546dff01e856fb3f010c267a7b1c60363cf8a4664e21cc89c26224620214e;
  bytes32 public constant ASP_POSTMAN = 0xfc84ade01695dae2ade01aa4226dc40bdceaf9d5dbd3bf8630b1dd5af195bbc5;

  AssociationSet[] public associationSets;
  mapping(uint256 scope => address pool) public scopeToPool;
  mapping(address asset => AssetConfig config) public assetConfig;
  mapping(uint256 precommitment => bool used) public usedPrecommitments;
  mapping(bytes32 role => mapping(address account => bool granted)) public hasRole;
  bool private entered;

  event RootUpdated(uint256 _root, string _ipfsCID, uint256 _timestamp);
  event Deposited(address indexed _depositor, address indexed _pool, uint256 _commitment, uint256 _amount);
  event WithdrawalRelayed(
    address indexed _relayer,
    address indexed _recipient,
    address indexed _asset,
    uint256 _amount,
    uint256 _feeAmount
  );
  event FeesWithdrawn(address _asset, address _recipient, uint256 _amount);
  event PoolRegistered(address _pool, address _asset, uint256 _scope);
  event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender);

  error AccessControlUnauthorizedAccount(address account, bytes32 neededRole);
  error AssetPoolAlreadyRegistered();
  error EmptyRoot();
  error InvalidEntrypointForPool();
  error InvalidFeeBPS();
  error InvalidIPFSCIDLength();
  error InvalidIndex();
  error InvalidPoolState();
  error InvalidProcessooor();
  error InvalidWithdrawalAmount();
  error MinimumDepositAmount();
  error NativeAssetNotAccepted();
  error NoRootsAvailable();
  error PoolNotFound();
  error PrecommitmentAlreadyUsed();
  error ReentrancyGuardReentrantCall();
  error RelayFeeGreaterThanMax();

  modifier only(bytes32 role) {
    if (!hasRole[role][msg.sender]) revert AccessControlUnauthorizedAccount(msg.sender, role);
    _;
  }

  modifier nonReentrant() {
    if (entered) revert ReentrancyGuardReentrantCall();
    entered = true;
    _;
    entered = false;
  }

  constructor(address owner) {
    hasRole[OWNER_ROLE][owner] = true;
  }

  /// Only pools pay in coins.
  receive() external payable {
    if (!entered) revert NativeAssetNotAccepted();
  }

  function grantRole(bytes32 role, address account) external only(OWNER_ROLE) {
    hasRole[role][account] = true;
    emit RoleGranted(role, account, msg.sender);
  }

  function registerPool(
    address asset,
    address pool,
    uint256 minimumDepositAmount,
    uint256 vettingFeeBPS,
    uint256 maxRelayFeeBPS
  ) external only(OWNER_ROLE) {
    if (assetConfig[asset].pool != address(0)) revert AssetPoolAlreadyRegistered();
    if (IPool(pool).ENTRYPOINT() != address(this)) revert InvalidEntrypointForPool();
    if (vettingFeeBPS >= 10_000 || maxRelayFeeBPS >= 10_000) revert InvalidFeeBPS();
    uint256 scope = IPool(pool).SCOPE();
    scopeToPool[scope] = pool;
    assetConfig[asset] = AssetConfig(pool, minimumDepositAmount, vettingFeeBPS, maxRelayFeeBPS);
    if (asset != NATIVE_ASSET) Assets.approve(asset, pool, type(uint256).max);
    emit PoolRegistered(pool, asset, scope);
  }

  function updateRoot(uint256 root, string calldata ipfsCID) external only(ASP_POSTMAN) returns (uint256 index) {
    if (root == 0) revert EmptyRoot();
    if (bytes(ipfsCID).length < 32 || bytes(ipfsCID).length > 64) revert InvalidIPFSCIDLength();
    associationSets.push(AssociationSet(root, ipfsCID, block.timestamp));
    emit RootUpdated(root, ipfsCID, block.timestamp);
    return associationSets.length - 1;
  }

  function latestRoot() external view returns (uint256) {
    if (associationSets.length == 0) revert NoRootsAvailable();
    return associationSets[associationSets.length - 1].root;
  }

  function rootByIndex(uint256 index) external view returns (uint256) {
    if (index >= associationSets.length) revert InvalidIndex();
    return associationSets[index].root;
  }

  function deposit(uint256 precommitment) external payable nonReentrant returns (uint256) {
    return _deposit(NATIVE_ASSET, msg.value, precommitment);
  }

  function deposit(address asset, uint256 value, uint256 precommitment) external nonReentrant returns (uint256) {
    if (asset == NATIVE_ASSET) revert NativeAssetNotAccepted();
    Assets.pull(asset, msg.sender, value);
    return _deposit(asset, value, precommitment);
  }

  function relay(
    Withdrawal calldata withdrawal,
    WithdrawProof calldata proof,
    uint256 scope
  ) external nonReentrant {
    uint256 withdrawn = proof.pubSignals[2];
    if (withdrawn == 0) revert InvalidWithdrawalAmount();
    if (withdrawal.processooor != address(this)) revert InvalidProcessooor();
    address pool = scopeToPool[scope];
    if (pool == address(0)) revert PoolNotFound();
    address asset = IPool(pool).ASSET();
    RelayData memory data = abi.decode(withdrawal.data, (RelayData));
    if (data.relayFeeBPS > assetConfig[asset].maxRelayFeeBPS) revert RelayFeeGreaterThanMax();
    uint256 before = Assets.balance(asset);
    IPool(pool).withdraw(withdrawal, proof);
    uint256 fee = (withdrawn * data.relayFeeBPS) / 10_000;
    Assets.send(asset, data.recipient, withdrawn - fee);
    Assets.send(asset, data.feeRecipient, fee);
    if (Assets.balance(asset) < before) revert InvalidPoolState();
    emit WithdrawalRelayed(msg.sender, data.recipient, asset, withdrawn - fee, fee);
  }

  function withdrawFees(address asset, address recipient) external nonReentrant only(OWNER_ROLE) {
    uint256 amount = Assets.balance(asset);
    Assets.send(asset, recipient, amount);
    emit FeesWithdrawn(asset, recipient, amount);
  }

  function _deposit(address asset, uint256 value, uint256 precommitment) private returns (uint256 commitment) {
    AssetConfig memory config = assetConfig[asset];
    if (config.pool == address(0)) revert PoolNotFound();
    if (usedPrecommitments[precommitment]) revert PrecommitmentAlreadyUsed();
    usedPrecommitments[precommitment] = true;
    if (value < config.minimumDepositAmount) revert MinimumDepositAmount();
    uint256 kept = value - (value * config.vettingFeeBPS) / 10_000;
    commitment = IPool(config.pool).deposit{value: asset == NATIVE_ASSET ? kept : 0}(msg.sender, kept, precommitment);
    emit Deposited(msg.sender, config.pool, commitment, kept);
  }
}
