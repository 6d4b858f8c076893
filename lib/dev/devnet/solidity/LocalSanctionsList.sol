// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A sanctions oracle of the local chains with the interface of Chainalysis' SanctionsList. Nobody is listed until its owner lists them.
contract LocalSanctionsList {
    address public immutable owner;
    mapping(address => bool) private listed;

    event SanctionedAddressesAdded(address[] addrs);
    event SanctionedAddressesRemoved(address[] addrs);

    constructor(address owner_) {
        owner = owner_;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "only the owner changes the list");
        _;
    }

    function addToSanctionsList(address[] memory addrs) external onlyOwner {
        for (uint256 i = 0; i < addrs.length; i++) listed[addrs[i]] = true;
        emit SanctionedAddressesAdded(addrs);
    }

    function removeFromSanctionsList(address[] memory addrs) external onlyOwner {
        for (uint256 i = 0; i < addrs.length; i++) listed[addrs[i]] = false;
        emit SanctionedAddressesRemoved(addrs);
    }

    function isSanctioned(address addr) external view returns (bool) {
        return listed[addr];
    }
}
