// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A price feed of the local chains with the interface of Chainlink's AggregatorV3. Its owner sets the price.
contract LocalPriceFeed {
    address public immutable owner;
    uint8 public constant decimals = 8;
    uint256 public constant version = 1;
    string public description;

    uint80 private roundId;
    int256 private answer;
    uint256 private updatedAt;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    constructor(address owner_, string memory description_, int256 answer_) {
        owner = owner_;
        description = description_;
        write(answer_, block.timestamp);
    }

    /// `at` may lie in the past, so that a test can make a price old.
    function setAnswer(int256 answer_, uint256 at) external {
        require(msg.sender == owner, "only the owner sets the price");
        write(answer_, at);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (roundId, answer, updatedAt, updatedAt, roundId);
    }

    function write(int256 answer_, uint256 at) private {
        roundId += 1;
        answer = answer_;
        updatedAt = at;
        emit AnswerUpdated(answer_, roundId, at);
    }
}
