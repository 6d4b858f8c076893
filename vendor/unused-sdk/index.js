// Alto calls these two of Sentry's functions when an operation fails, also where no Sentry is configured.
exports.captureException = () => {};
exports.captureMessage = () => {};
