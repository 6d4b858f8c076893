// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// User operation of EntryPoint v0.7 (ERC-4337), as its ABI takes it.
struct PackedUserOperation {
    address sender;
    uint256 nonce;
    bytes initCode;
    bytes callData;
    bytes32 accountGasLimits;
    uint256 preVerificationGas;
    bytes32 gasFees;
    bytes paymasterAndData;
    bytes signature;
}

interface IEntryPoint {
    function handleOps(PackedUserOperation[] calldata ops, address payable beneficiary) external;
    function depositTo(address account) external payable;
    function withdrawTo(address payable to, uint256 amount) external;
    function addStake(uint32 unstakeDelaySec) external payable;
    function unlockStake() external;
    function withdrawStake(address payable to) external;
}

/// Pays for the user operations that a marker has marked, and for no others. A prepared operation carries no consent of the
/// paymaster, so whoever holds one can do nothing with it before the service decides to submit it.
///
/// A mark lives in one of two places:
/// - in transient storage (EIP-1153), for bundles that a marker sends itself through `handleMarkedOps`: it ends with the
///   transaction, so nobody else can ever use it;
/// - in storage, for bundles that somebody else sends (`mark`): until it is used, revoked, or its time is over.
///
/// Validation reads and writes this contract's own storage alone (ERC-7562), which a bundler allows to a staked paymaster.
contract MarkedPaymaster {
    error NotOwner(address account);
    error NotPendingOwner(address account);
    error NotMarker(address account);
    error NotEntryPoint(address account);
    error NoEntryPoint(address account);
    error NoOwner();
    error MarkExpired(uint48 until);

    event OwnershipOffered(address indexed owner, address indexed pendingOwner);
    event OwnershipTransferred(address indexed from, address indexed to);
    event MarkerSet(address indexed marker, bool allowed);

    /// `validationData` of ERC-4337: the operation has no consent. No revert, so that gas can be estimated before there is a mark.
    uint256 private constant NO_CONSENT = 1;
    uint256 private constant VALID_UNTIL_OFFSET = 160;

    IEntryPoint public immutable entryPoint;
    address public owner;
    address public pendingOwner;
    mapping(address => bool) public isMarker;
    /// Unix seconds up to which a stored mark counts, by user operation hash; 0 where there is none.
    mapping(bytes32 => uint48) public markedUntil;

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }

    modifier onlyMarker() {
        if (!isMarker[msg.sender]) revert NotMarker(msg.sender);
        _;
    }

    /// Whatever ether comes along becomes the stake.
    constructor(IEntryPoint entryPoint_, address owner_, address[] memory markers, uint32 unstakeDelaySec) payable {
        if (address(entryPoint_).code.length == 0) revert NoEntryPoint(address(entryPoint_));
        if (owner_ == address(0)) revert NoOwner();
        entryPoint = entryPoint_;
        owner = owner_;
        emit OwnershipTransferred(address(0), owner_);
        for (uint256 i = 0; i < markers.length; ++i) _setMarker(markers[i], true);
        if (msg.value > 0) entryPoint_.addStake{value: msg.value}(unstakeDelaySec);
    }

    // Marking

    /// Marks operations for this transaction alone and hands them to EntryPoint: `handleOps` with one more argument, the
    /// hashes of those operations that this contract is to pay for. What EntryPoint reverts with is passed on as it is.
    function handleMarkedOps(PackedUserOperation[] calldata, address payable, bytes32[] calldata userOpHashes)
        external
        onlyMarker
    {
        for (uint256 i = 0; i < userOpHashes.length; ++i) {
            bytes32 userOpHash = userOpHashes[i];
            assembly ("memory-safe") {
                tstore(userOpHash, 1)
            }
        }
        address to = address(entryPoint);
        bytes4 selector = IEntryPoint.handleOps.selector;
        // The first two arguments are those of `handleOps`, at the same places, so the call data serves again under another
        // selector; encoding the operations anew would cost more gas than all the rest of this contract.
        assembly ("memory-safe") {
            let data := mload(0x40)
            calldatacopy(data, 0, calldatasize())
            mstore(data, or(selector, and(mload(data), not(shl(224, 0xffffffff)))))
            if iszero(call(gas(), to, 0, data, calldatasize(), 0, 0)) {
                returndatacopy(data, 0, returndatasize())
                revert(data, returndatasize())
            }
        }
    }

    /// Marks operations that somebody else is going to bundle.
    function mark(bytes32[] calldata userOpHashes, uint48 until) external onlyMarker {
        if (until <= block.timestamp) revert MarkExpired(until);
        for (uint256 i = 0; i < userOpHashes.length; ++i) markedUntil[userOpHashes[i]] = until;
    }

    /// Takes stored marks back.
    function unmark(bytes32[] calldata userOpHashes) external {
        if (msg.sender != owner && !isMarker[msg.sender]) revert NotMarker(msg.sender);
        for (uint256 i = 0; i < userOpHashes.length; ++i) delete markedUntil[userOpHashes[i]];
    }

    // Paymaster (ERC-4337). Without a context EntryPoint never calls `postOp`, so there is none.

    /// Uses the mark up.
    function validatePaymasterUserOp(PackedUserOperation calldata, bytes32 userOpHash, uint256)
        external
        returns (bytes memory context, uint256 validationData)
    {
        if (msg.sender != address(entryPoint)) revert NotEntryPoint(msg.sender);
        bool isMarkedNow;
        assembly ("memory-safe") {
            isMarkedNow := tload(userOpHash)
        }
        if (isMarkedNow) {
            assembly ("memory-safe") {
                tstore(userOpHash, 0)
            }
            return ("", 0);
        }
        uint256 until = markedUntil[userOpHash];
        if (until == 0) return ("", NO_CONSENT);
        delete markedUntil[userOpHash];
        // EntryPoint compares it with the time: ERC-7562 keeps TIMESTAMP out of validation.
        return ("", until << VALID_UNTIL_OFFSET);
    }

    // What the owner decides

    function setMarker(address marker, bool allowed) external onlyOwner {
        _setMarker(marker, allowed);
    }

    /// In two steps, so that a mistyped address cannot take the deposit away for good.
    function transferOwnership(address newOwner) external onlyOwner {
        pendingOwner = newOwner;
        emit OwnershipOffered(owner, newOwner);
    }

    function acceptOwnership() external {
        if (msg.sender != pendingOwner) revert NotPendingOwner(msg.sender);
        emit OwnershipTransferred(owner, msg.sender);
        owner = msg.sender;
        delete pendingOwner;
    }

    /// Anybody may add to the deposit.
    function deposit() external payable {
        entryPoint.depositTo{value: msg.value}(address(this));
    }

    function withdrawTo(address payable to, uint256 amount) external onlyOwner {
        entryPoint.withdrawTo(to, amount);
    }

    function addStake(uint32 unstakeDelaySec) external payable onlyOwner {
        entryPoint.addStake{value: msg.value}(unstakeDelaySec);
    }

    function unlockStake() external onlyOwner {
        entryPoint.unlockStake();
    }

    function withdrawStake(address payable to) external onlyOwner {
        entryPoint.withdrawStake(to);
    }

    function _setMarker(address marker, bool allowed) private {
        isMarker[marker] = allowed;
        emit MarkerSet(marker, allowed);
    }
}
