// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// @notice Pays many recipients out of the account that delegates a call to it: the account itself calls the token (or sends
/// the coin), so no allowance is ever given, and the contract holds nothing. Either every row is paid, or the call reverts.
///
/// A row is one word: the recipient in its upper 160 bits, the amount in its lower 96. `payToken256` and `payCoin256` take two
/// words a row, for amounts that need more bits.
contract Distributor {
  /// @param index of the row that could not be paid
  error RowFailed(uint256 index);
  error NotDelegated();
  error BadLength();
  error NoToken();

  address private immutable self = address(this);

  /// A plain call would find an empty account, and an account that calls it by mistake must learn so.
  modifier delegated() {
    if (address(this) == self) revert NotDelegated();
    _;
  }

  function payToken(address token, bytes calldata rows) external delegated {
    payTokenRows(token, rows, 32);
  }

  function payToken256(address token, bytes calldata rows) external delegated {
    payTokenRows(token, rows, 64);
  }

  function payCoin(bytes calldata rows) external delegated {
    payCoinRows(rows, 32);
  }

  function payCoin256(bytes calldata rows) external delegated {
    payCoinRows(rows, 64);
  }

  function payTokenRows(address token, bytes calldata rows, uint256 size) private {
    if (rows.length % size != 0) revert BadLength();
    // A call to an address without code succeeds and moves nothing.
    if (token.code.length == 0) revert NoToken();
    assembly ("memory-safe") {
      let cursor := rows.offset
      let end := add(cursor, rows.length)
      // transfer(address,uint256): 4 bytes at 28, recipient at 32, amount at 64 (the free memory pointer, restored below).
      let free := mload(64)
      mstore(0, 0xa9059cbb)
      for {} lt(cursor, end) { cursor := add(cursor, size) } {
        let word := calldataload(cursor)
        mstore(32, shr(96, word))
        switch size
        case 32 { mstore(64, and(word, 0xffffffffffffffffffffffff)) }
        default { mstore(64, calldataload(add(cursor, 32))) }
        // The answer goes behind the call: true, or nothing at all from tokens that answer nothing.
        mstore(96, 1)
        let called := call(gas(), token, 0, 28, 68, 96, 32)
        if iszero(and(called, eq(mload(96), 1))) {
          mstore(0, shl(224, 0xdb593b6a))
          mstore(4, div(sub(cursor, rows.offset), size))
          revert(0, 36)
        }
      }
      mstore(64, free)
      mstore(96, 0)
    }
  }

  function payCoinRows(bytes calldata rows, uint256 size) private {
    if (rows.length % size != 0) revert BadLength();
    assembly ("memory-safe") {
      let cursor := rows.offset
      let end := add(cursor, rows.length)
      for {} lt(cursor, end) { cursor := add(cursor, size) } {
        let word := calldataload(cursor)
        let amount := and(word, 0xffffffffffffffffffffffff)
        if eq(size, 64) { amount := calldataload(add(cursor, 32)) }
        // Recipients that are contracts get what a plain transfer would leave them, and cannot burn the batch's gas.
        if iszero(call(30000, shr(96, word), amount, 0, 0, 0, 0)) {
          mstore(0, shl(224, 0xdb593b6a))
          mstore(4, div(sub(cursor, rows.offset), size))
          revert(0, 36)
        }
      }
    }
  }
}
