// Search in Japanese. Japanese has no blanks between words, so the index of words finds nothing: for a query beyond
// ASCII, every part of it must occur in the title or the text of a section.
(function () {
    'use strict';
    if (!window.elasticlunr) {
        return;
    }
    const load = elasticlunr.Index.load;
    elasticlunr.Index.load = function (data) {
        const index = load.call(this, data);
        const byWords = index.search;
        const docs = Object.values(data.documentStore.docs);
        index.search = function (query, options) {
            if (/^[\x00-\x7f]*$/.test(query)) {
                return byWords.call(index, query, options);
            }
            const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
            const found = (text) => parts.filter((part) => text.toLowerCase().includes(part)).length;
            const score = (doc) => (found(doc.title) + 1) / (doc.body.length + 1000);
            return docs
                .filter((doc) => found(doc.title + ' ' + doc.body) === parts.length)
                .map((doc) => ({ ref: doc.id, doc: doc, score: score(doc) }))
                .sort((a, b) => b.score - a.score);
        };
        return index;
    };
})();
