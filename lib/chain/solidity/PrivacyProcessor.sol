// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// What a proof is made for: `processooor` (the protocol's spelling) alone may use it, with exactly this data.
struct Withdrawal {
  address processooor;
  bytes data;
}

/// Signals: new commitment, spent nullifier, withdrawn value, state root, its depth, association root, its depth, context.
struct WithdrawProof {
  uint256[2] pA;
  uint256[2][2] pB;
  uint256[2] pC;
  uint256[8] pubSignals;
}

/// Signals: commitment, nullifier, value, label.
struct RagequitProof {
  uint256[2] pA;
  uint256[2][2] pB;
  uint256[2] pC;
  uint256[4] pubSignals;
}

interface IPrivacyPool {
  function ASSET() external view returns (address);
  function SCOPE() external view returns (uint256);
  function ENTRYPOINT() external view returns (address);
  function nonce() external view returns (uint256);
  function depositors(uint256 label) external view returns (address);
  function withdraw(Withdrawal calldata withdrawal, WithdrawProof calldata proof) external;
  function ragequit(RagequitProof calldata proof) external;
}

interface IEntrypoint {
  function assetConfig(
    address asset
  ) external view returns (address pool, uint256 minimumDepositAmount, uint256 vettingFeeBPS, uint256 maxRelayFeeBPS);
  function deposit(uint256 precommitment) external payable returns (uint256);
  function deposit(address asset, uint256 value, uint256 precommitment) external returns (uint256);
}

interface ISwapRouter {
  struct ExactInputParams {
    bytes path;
    address recipient;
    uint256 amountIn;
    uint256 amountOutMinimum;
  }
  function exactInput(ExactInputParams calldata params) external payable returns (uint256);
}

interface IWrapped {
  function deposit() external payable;
  function withdraw(uint256 amount) external;
}

/// Takes a note out of a privacy pool, swaps it on Uniswap v3 where a path is given, and deposits the result as a new note, all in one
/// transaction. Whatever it does is bound by the proof's context. It holds no money between transactions.
contract PrivacyProcessor {
  struct Order {
    address entrypoint;
    /// Uniswap's SwapRouter02, and the chain's wrapped coin.
    address router;
    address wrapped;
    address assetOut;
    /// Empty: the asset is not changed, and the new note is somebody else's.
    bytes path;
    /// What must be there to be deposited, in base units of `assetOut`.
    uint256 minimumOut;
    uint256 precommitment;
    /// keccak256(abi.encode(owner, salt)) of who may take the new note out by its public exit.
    bytes32 exitHash;
    address feeRecipient;
    /// In base units of the asset that is withdrawn.
    uint256 fee;
    /// Unix seconds.
    uint256 deadline;
  }

  address private constant NATIVE_ASSET = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
  uint256 private constant SCALARS = 21888242871839275222246405745257275088548364400416034343698204186575808495617;
  uint256 public constant FEE_BPS_MAX = 500;

  /// Who may take out a note that this contract deposited, by pool and label. Set once.
  mapping(address pool => mapping(uint256 label => bytes32 hash)) public exitHashes;

  error AssetMismatch();
  error BelowMinimum(uint256 amount, uint256 minimum);
  error Expired();
  error FeeAboveBound();
  error NoExit();
  error NotFromPool();
  error OnlyExitOwner();
  error Reentered();
  error TransferFailed();
  error UnknownPool();

  modifier nonReentrant() {
    if (_isEntered()) revert Reentered();
    _setEntered(true);
    _;
    _setEntered(false);
  }

  /// Pools and the wrapped coin pay in while an order runs.
  receive() external payable {
    if (!_isEntered()) revert NotFromPool();
  }

  /// @param pool from which the note is taken; it checks the proof, whose context binds `withdrawal`
  function run(
    IPrivacyPool pool,
    Withdrawal calldata withdrawal,
    WithdrawProof calldata proof
  ) external nonReentrant {
    Order memory order = abi.decode(withdrawal.data, (Order));
    if (block.timestamp > order.deadline) revert Expired();
    if (order.exitHash == bytes32(0)) revert NoExit();
    if (pool.ENTRYPOINT() != order.entrypoint) revert UnknownPool();
    if (order.fee * 10_000 > proof.pubSignals[2] * FEE_BPS_MAX) revert FeeAboveBound();
    address assetIn = pool.ASSET();
    uint256 before = _balance(assetIn);
    pool.withdraw(withdrawal, proof);
    uint256 amount = _balance(assetIn) - before;
    _send(assetIn, order.feeRecipient, order.fee);
    amount = _swap(order, assetIn, amount - order.fee);
    if (amount < order.minimumOut) revert BelowMinimum(amount, order.minimumOut);
    _deposit(order, amount);
  }

  /// The public exit of a note that this contract deposited, to the owner who was named by hash then.
  function exit(
    IPrivacyPool pool,
    RagequitProof calldata proof,
    address owner,
    bytes32 salt
  ) external nonReentrant {
    if (exitHashes[address(pool)][proof.pubSignals[3]] != keccak256(abi.encode(owner, salt))) revert OnlyExitOwner();
    address asset = pool.ASSET();
    uint256 before = _balance(asset);
    pool.ragequit(proof);
    _send(asset, owner, _balance(asset) - before);
  }

  function _swap(Order memory order, address assetIn, uint256 amount) private returns (uint256) {
    if (order.path.length == 0) {
      if (order.assetOut != assetIn) revert AssetMismatch();
      return amount;
    }
    address tokenIn = assetIn;
    if (assetIn == NATIVE_ASSET) {
      IWrapped(order.wrapped).deposit{value: amount}();
      tokenIn = order.wrapped;
    }
    address tokenOut = order.assetOut == NATIVE_ASSET ? order.wrapped : order.assetOut;
    uint256 before = _balance(tokenOut);
    _approve(tokenIn, order.router, amount);
    ISwapRouter(order.router).exactInput(
      ISwapRouter.ExactInputParams(order.path, address(this), amount, order.minimumOut)
    );
    uint256 received = _balance(tokenOut) - before;
    if (order.assetOut == NATIVE_ASSET) IWrapped(order.wrapped).withdraw(received);
    return received;
  }

  function _deposit(Order memory order, uint256 amount) private {
    IEntrypoint entrypoint = IEntrypoint(order.entrypoint);
    (address pool, , , ) = entrypoint.assetConfig(order.assetOut);
    if (IPrivacyPool(pool).ENTRYPOINT() != order.entrypoint) revert UnknownPool();
    if (order.assetOut == NATIVE_ASSET) {
      entrypoint.deposit{value: amount}(order.precommitment);
    } else {
      _approve(order.assetOut, order.entrypoint, amount);
      entrypoint.deposit(order.assetOut, amount, order.precommitment);
    }
    uint256 nonce = IPrivacyPool(pool).nonce();
    uint256 label = uint256(keccak256(abi.encodePacked(IPrivacyPool(pool).SCOPE(), nonce))) % SCALARS;
    // A made-up entrypoint could name a pool without depositing there, and so the note of somebody else.
    if (IPrivacyPool(pool).depositors(label) != address(this)) revert UnknownPool();
    if (exitHashes[pool][label] != bytes32(0)) revert UnknownPool();
    exitHashes[pool][label] = order.exitHash;
  }

  function _isEntered() private view returns (bool entered) {
    assembly ("memory-safe") {
      entered := tload(0)
    }
  }

  function _setEntered(bool entered) private {
    assembly ("memory-safe") {
      tstore(0, entered)
    }
  }

  function _balance(address asset) private view returns (uint256 amount) {
    if (asset == NATIVE_ASSET) return address(this).balance;
    (bool done, bytes memory answer) = asset.staticcall(
      abi.encodeWithSignature("balanceOf(address)", address(this))
    );
    if (!done || answer.length != 32) revert TransferFailed();
    return abi.decode(answer, (uint256));
  }

  function _send(address asset, address to, uint256 amount) private {
    if (amount == 0) return;
    if (asset != NATIVE_ASSET) return _call(asset, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
    (bool done, ) = to.call{value: amount}("");
    if (!done) revert TransferFailed();
  }

  /// Some tokens refuse to change an allowance that is not zero; the spender takes all of it, so none is ever left.
  function _approve(address asset, address spender, uint256 amount) private {
    _call(asset, abi.encodeWithSignature("approve(address,uint256)", spender, amount));
  }

  function _call(address asset, bytes memory data) private {
    (bool done, bytes memory answer) = asset.call(data);
    if (!done || (answer.length > 0 && !abi.decode(answer, (bool)))) revert TransferFailed();
  }
}
