// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Stands for GasPriceOracle of the OP stack and NodeInterface of Arbitrum, with a price that a test sets.
contract RollupFees {
    /// On the OP stack wei, on Arbitrum gas, for each byte of data.
    uint256 public perByte;

    function setPerByte(uint256 perByte_) external {
        perByte = perByte_;
    }

    function getL1Fee(bytes calldata data) external view returns (uint256) {
        return data.length * perByte;
    }

    function gasEstimateL1Component(address, bool, bytes calldata data)
        external
        view
        returns (uint64, uint256, uint256)
    {
        return (uint64(data.length * perByte), block.basefee, 0);
    }
}
