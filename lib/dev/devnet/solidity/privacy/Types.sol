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

address constant NATIVE_ASSET = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;

interface IERC20 {
  function balanceOf(address account) external view returns (uint256);
}

/// Moves the native coin, and tokens that answer nothing or true.
library Assets {
  error NativeAssetTransferFailed();
  error SafeERC20FailedOperation(address token);

  function balance(address asset) internal view returns (uint256) {
    return asset == NATIVE_ASSET ? address(this).balance : IERC20(asset).balanceOf(address(this));
  }

  function send(address asset, address to, uint256 amount) internal {
    if (amount == 0) return;
    if (asset == NATIVE_ASSET) {
      (bool done, ) = to.call{value: amount}("");
      if (!done) revert NativeAssetTransferFailed();
    } else {
      _call(asset, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
    }
  }

  function pull(address asset, address from, uint256 amount) internal {
    _call(asset, abi.encodeWithSignature("transferFrom(address,address,uint256)", from, address(this), amount));
  }

  function approve(address asset, address spender, uint256 amount) internal {
    _call(asset, abi.encodeWithSignature("approve(address,uint256)", spender, amount));
  }

  function _call(address asset, bytes memory data) private {
    (bool done, bytes memory answer) = asset.call(data);
    if (!done || (answer.length > 0 && !abi.decode(answer, (bool)))) revert SafeERC20FailedOperation(asset);
  }
}
